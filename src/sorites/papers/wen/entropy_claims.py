"""W25 and W26: normalised attention entropy, on constructed attention and in pretrained language models."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np

from ...ledger import Claim, Evidence, equal
from ...probes.attention import head_entropies
from ...theory.precision import in_float64
from .setting import PAPER, ROUNDING


@dataclasses.dataclass(frozen=True)
class Lengths:
    tokens: int = 64

    def __post_init__(self):
        assert self.tokens >= 4


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


CLAIMS = (
    Claim(
        "W25", PAPER, "Equation 1", "identity",
        "Ent = min over tokens i >= 2 of H(P[i]) / log i lies in [0, 1]: 1 for uniform, 0 for one-hot attention, "
        "1 - log 2 / log 2m for uniform over half of 2m tokens.",
        {"tiny": Lengths(8), "quick": Lengths()}, _definition,
    ),
)  # fmt: skip
