"""Products of chain positions as sets of input bits: which are trivial, and how large the others' means get
(kim-suzuki Lemmas 9 and after, log-icot Lemmas 5 and 6)."""

import itertools
import math

import numpy as np
from jaxtyping import Int


def input_sets(inputs: int, children: Int[np.ndarray, "thought 2"]) -> list[int]:
    """Each position as the bit mask of the inputs it multiplies; a product is trivial iff the masks XOR to 0."""
    masks = [1 << index for index in range(inputs)]
    for left, right in children:
        masks.append(masks[left] ^ masks[right])
    return masks


def trivial_quadruples(masks: list[int]) -> int:
    """Ordered 4-tuples with trivial product, by brute force over pairs."""
    pairs: dict[int, int] = {}
    for left, right in itertools.product(masks, repeat=2):
        pairs[left ^ right] = pairs.get(left ^ right, 0) + 1
    return sum(count * count for count in pairs.values())


def trivial_quadruples_formula(positions: int, nested: int) -> int:
    """3N^2 - 2N + 24 #{(node, internal child) among the N positions}; hence O(n^2) (Lemma 6)."""
    return 3 * positions**2 - 2 * positions + 24 * nested


def nontrivial_products(masks: list[int], largest: int = 4) -> list[int]:
    """The distinct non-trivial products of at most `largest` positions."""
    reached, everything = {0}, set()
    for _ in range(largest):
        reached = {have ^ mask for have in reached for mask in masks}
        everything |= reached
    return sorted(everything - {0})


def correlation_bound(samples: int, inputs: int, failure: float) -> float:
    """kappa = sqrt((2/B) log(32 n^4 / p)) (Lemma 5)."""
    return math.sqrt(2 / samples * math.log(32 * inputs**4 / failure))


def largest_correlation(signs: Int[np.ndarray, "sample input"], products: list[int]) -> float:
    """max |mean over samples of a product|, over the given products."""
    bits = (signs < 0).astype(np.uint64)
    codes = (bits << np.arange(signs.shape[1], dtype=np.uint64)).sum(axis=1).astype(np.uint64)
    means = [1 - 2 * (np.bitwise_count(codes & np.uint64(product)) & 1).mean() for product in products]
    return float(np.abs(means).max())
