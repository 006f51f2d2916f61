"""W25 and W26: normalised attention entropy, on constructed attention and in pretrained language models."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import Between, Claim, Comparison, Domain, Evidence, Text, equal, shown
from ...probes.attention import head_entropies
from ...probes.pretrained import KINDS, entropies, shared_problems
from ...probes.problems import MODES
from ...statistics.proportions import Interval
from ...tasks.rows import passed_over
from ...theory.precision import in_float64
from ...training import Lab
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
    data: str = ""  # JSON lines or Parquet with question and answer, GSM8K's test set in the paper
    problems: int = 100

    def __post_init__(self):
        require(self.problems >= 1, f"entropies need problems: problems={self.problems}; use 1 or more")


CONFOUND = (
    "The question is the same in both texts and a causal model attends to it alike, so the two differ through the answer's "
    "tokens only, and a minimum over more tokens is smaller whatever they say. The controls hold the length fixed. "
    "A model with random weights can pass: the ordering alone is no evidence that sparse attention was learned."
)
DRAWS = 400  # bootstrap samples of the problems


def sorted_heads(low: np.ndarray, high: np.ndarray) -> float:
    """Share of ranks at which the sorted heads of a layer lie no higher in `low` than in `high`."""
    return float((np.sort(low, axis=-1) <= np.sort(high, axis=-1) + 1e-9).mean())


def share_interval(low: np.ndarray, high: np.ndarray) -> tuple[float, Interval]:
    """That share over [problem, layer, head], and its 95 % interval over samples of the problems."""
    draw = np.random.default_rng(0).multinomial(len(low), np.full(len(low), 1 / len(low)), DRAWS) / len(low)
    shares = [sorted_heads(*(np.tensordot(each, values, 1) for values in (low, high))) for each in draw]
    return sorted_heads(low.mean(axis=0), high.mean(axis=0)), Interval(*np.quantile(shares, (0.025, 0.975)))


def _mostly(name: str, low: np.ndarray, high: np.ndarray) -> Comparison:
    """Holds where the interval of the share lies above one half, fails where it lies below."""
    share, (least, most) = share_interval(low, high)
    return Comparison(f"{name} >", 0.5, share, None, True if least > 0.5 else False if most <= 0.5 else None)


def _pretrained(size: Pretrained, lab: Lab) -> Evidence:
    if not (size.model and size.data):
        return Evidence(
            (Comparison("share of sorted heads that are sparser with CoT >", 0.5, None, None, None),),
            departures=(
                "No model folder was given: sorites verify W26 --model DIR --data FILE [--specialised DIR] measures it.",
                CONFOUND,
            ),
        )
    folders = [folder for folder in (size.model, size.specialised) if folder]
    rows, skipped = shared_problems(size.data, folders, tuple(MODES), size.problems)
    found = {mode: entropies(size.model, rows, mode, lab) for mode in MODES}  # problem kind layer head

    def of(mode: str, kind: str = "entropy") -> np.ndarray:
        return found[mode][:, KINDS.index(kind)]

    compared = [_mostly("share of sorted heads that are sparser with CoT", of("cot"), of("none"))]
    for name, low, high in (
        ("CoT cut to the length of the bare answer", of("cut"), of("none")),
        ("the answer's tokens only", of("cot", "entropy_answer"), of("none", "entropy_answer")),
        ("mean over all tokens", of("cot", "entropy_mean"), of("none", "entropy_mean")),
        ("mean over the answer's tokens", of("cot", "entropy_answer_mean"), of("none", "entropy_answer_mean")),
        ("shuffled CoT", of("shuffled"), of("none")),
        ("random tokens, as many", of("random"), of("none")),
        ("CoT against as many random tokens", of("cot"), of("random")),
    ):
        compared.append(shown(f"control: {name}", None, sorted_heads(low.mean(axis=0), high.mean(axis=0))))
    if size.specialised:
        tuned = entropies(size.specialised, rows, "cot", lab)[:, 0]
        alike = tuned.shape[1:] == of("cot").shape[1:]
        require(
            alike, f"heads are compared rank by rank: {size.specialised} has another shape; give a tuned {size.model}"
        )
        compared.append(_mostly("share of sorted heads that are sparser after tuning", tuned, of("cot")))
    passed = (f"{passed_over(size.data, skipped)}.",) if skipped else ()
    return Evidence(tuple(compared), seeds=len(rows), departures=(CONFOUND, *passed))


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
