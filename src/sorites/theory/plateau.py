"""Half-learned parities: the conjunction of the parities of blocks that make up the secret."""

import itertools
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

Blocks = tuple[tuple[int, ...], ...]


def partitions(places: tuple[int, ...]) -> Iterator[Blocks]:
    """Every way to cut the places into blocks."""
    if not places:
        yield ()
        return
    first, rest = places[0], places[1:]
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = tuple(place for place in rest if place not in others)
            yield from (((first, *others), *blocks) for blocks in partitions(left))


def level(blocks: int) -> float:
    """Share of inputs on which the conjunction of so many parities is the parity of all: 3/4 of two, 5/8 of three."""
    return 0.5 + 0.5**blocks


def conjunction(blocks: Blocks, signs: tuple[int, ...], outer: int = 1) -> Float[np.ndarray, " subset"]:
    """Fourier coefficients of outer * AND(s_1 chi_1, ..., s_p chi_p), true is +1: AND = 2 prod (1 + s_i chi_i)/2 - 1,
    so every union of blocks has 2^{1-p} in size, the empty one 1 less. Subset 5 = 1 + 4 has places 0 and 2."""
    found = np.zeros(2 ** sum(map(len, blocks)))
    for chosen in itertools.product((0, 1), repeat=len(blocks)):
        union = sum(2**place for use, block in zip(chosen, blocks, strict=True) if use for place in block)
        found[union] = 2.0 ** (1 - len(blocks)) * np.prod(
            [s if use else 1 for use, s in zip(chosen, signs, strict=True)]
        )
    found[0] -= 1
    return outer * found


def nearest(coefficients: Float[np.ndarray, " subset"]) -> tuple[Blocks, Float[np.ndarray, " subset"]]:
    """The conjunction of two or more blocks that is closest in its worst coefficient. Signs are read off the blocks'
    own coefficients; the empty set's is negative but for the outer sign."""
    places = tuple(range(len(coefficients).bit_length() - 1))
    outer = -1 if coefficients[0] > 0 else 1
    tried = []
    for blocks in partitions(places):
        if len(blocks) > 1:
            own = [coefficients[sum(2**place for place in block)] for block in blocks]
            tried.append((blocks, conjunction(blocks, tuple(1 if outer * each > 0 else -1 for each in own), outer)))
    return min(tried, key=lambda each: float(np.abs(each[1] - coefficients).max()))
