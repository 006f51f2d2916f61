"""W25 and W26: normalised attention entropy, on constructed attention and in pretrained language models."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import Between, Claim, Comparison, Domain, Evidence, Text, at_least, equal, shown
from ...probes.attention import head_entropies
from ...probes.pretrained import entropies, problems
from ...theory.precision import in_float64
from .setting import PAPER, ROUNDING


@dataclasses.dataclass(frozen=True)
class Lengths:
    tokens: int = 64

    def __post_init__(self):
        require(self.tokens >= 4, f"half of the tokens must be two or more: tokens={self.tokens}; use 4 or more")


@in_float64
def _definition(size: Lengths) -> Evidence:
    length = size.tokens - size.tokens % 2
    row = np.arange(1, length + 1)
    uniform = np.tril(np.ones((length, length))) / row[:, None]
    one_hot = np.eye(length)
    half = uniform.copy()
    half[-1] = np.where(np.arange(length) < length // 2, 2 / length, 0)  # the last token looks at the first half
    drawn = np.random.default_rng(0).exponential(size=(length, length)) * np.tril(np.ones((length, length)))
    drawn /= drawn.sum(axis=1, keepdims=True)
    maps = jnp.asarray(np.stack([uniform, one_hot, half, drawn])[None])  # four heads of one layer
    found = {name: np.asarray(value)[0] for name, value in head_entropies((maps,), length - 1).items()}
    by_hand = min(-sum(p * math.log(p) for p in drawn[i, : i + 1] if p > 0) / math.log(i + 1) for i in range(1, length))
    return Evidence(
        (
            equal("uniform", 1, float(found["entropy"][0]), ROUNDING),
            equal("one-hot", 0, float(found["entropy"][1]), ROUNDING),
            equal("uniform over the first half at i = 2m", 1 - math.log(2) / math.log(length), float(found["entropy"][2]), ROUNDING),
            equal("random, against the definition", by_hand, float(found["entropy"][3]), ROUNDING),
            equal("answer tokens only: their minimum is that of the last row", float(found["entropy_answer"][2]), float(found["entropy"][2]), ROUNDING),
        )
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Pretrained:
    model: str = ""  # folder of the base model, Qwen2-7B in the paper
    specialised: str = ""  # folder of the model tuned on worked answers, Qwen2-Math-7B in the paper
    data: str = ""  # JSON lines with question and answer, GSM8K's test set in the paper
    problems: int = 100


CONFOUND = (
    "The question is the same in both texts and a causal model attends to it alike, so the two differ through the answer's "
    "tokens only, and a minimum over more tokens is smaller whatever they say. The controls hold the length fixed."
)


def _sorted_heads(low: np.ndarray, high: np.ndarray) -> float:
    """Share of ranks at which the sorted heads of a layer lie no higher in `low` than in `high`."""
    return float((np.sort(low, axis=1) <= np.sort(high, axis=1) + 1e-9).mean())


def _pretrained(size: Pretrained) -> Evidence:
    if not (size.model and size.data):
        return Evidence(
            (Comparison("share of sorted heads that are sparser with CoT ≥", 0.5, None, None, None),),
            departures=(
                "No model folder was given: sorites verify W26 --model DIR --data FILE [--specialised DIR] measures it.",
                CONFOUND,
            ),
        )
    rows = problems(size.data, size.problems)
    found = {mode: entropies(size.model, rows, mode) for mode in ("cot", "none", "cut", "random")}
    means = {mode: entropies(size.model, rows, mode, "answer", "mean") for mode in ("cot", "none")}
    compared = [
        at_least("share of sorted heads that are sparser with CoT", _sorted_heads(found["cot"], found["none"]), 0.5),
        shown("the same, CoT cut to the length of the bare answer", None, _sorted_heads(found["cut"], found["none"])),
        shown("the same, shuffled CoT", None, _sorted_heads(found["random"], found["none"])),
        shown("the same, mean over the answer's tokens", None, _sorted_heads(means["cot"], means["none"])),
    ]
    if size.specialised:
        tuned = entropies(size.specialised, rows, "cot")
        compared.append(
            at_least("share of sorted heads that are sparser after tuning", _sorted_heads(tuned, found["cot"]), 0.5)
        )
    return Evidence(tuple(compared), seeds=len(rows), departures=(CONFOUND,))


CLAIMS = (
    Claim(
        "W26", PAPER, "Sec. 4.3, Figures 6 and 7", "trend",
        "Worked answers are read with sparser attention than bare ones by a pretrained model, and sparser still by one tuned on "
        "them, for most heads sorted within their layer.",
        {"quick": Pretrained(), "tiny": Pretrained()}, _pretrained, expected="inconclusive",
        domain=Domain(
            {"model": Text(), "specialised": Text(), "data": Text(), "problems": Between(25, 1319)},
            because="GSM8K's test set has 1,319 problems; without a model's folder nothing is measured",
        ),
    ),
    Claim(
        "W25", PAPER, "Equation 1", "identity",
        "Ent = min over tokens i >= 2 of H(P[i]) / log i lies in [0, 1]: 1 for uniform, 0 for one-hot attention, "
        "1 - log 2 / log 2m for uniform over half of 2m tokens.",
        {"tiny": Lengths(8), "quick": Lengths()}, _definition, domain=Domain({"tokens": Between(4, 256)}),
    ),
)  # fmt: skip
