"""Half-learned parities: formulas that read every secret bit once, with an AND or an OR in the place of some XORs.

Of two bits, AND is right about the parity on 3/4 of the inputs; of three, AND(1, XOR(2, 3)) on 3/4 and AND(1, OR(2, 3))
on 5/8.
"""

import functools
import itertools

import numpy as np
from jaxtyping import Float, Int


def _signs(bits: int) -> Int[np.ndarray, "bit input"]:
    """Every input of so many bits: bit i of input number x is -1 where x has 2^i."""
    return (1 - 2 * (np.arange(2**bits)[None] >> np.arange(bits)[:, None] & 1)).astype(np.int8)


def coefficients(table: Int[np.ndarray, " input"]) -> Float[np.ndarray, " subset"]:
    """Fourier coefficients of a table of signs over all inputs; subset 5 = 1 + 4 has bits 0 and 2."""
    bits = len(table).bit_length() - 1
    characters = np.ones((1, len(table)), np.int8)
    for row in _signs(bits):
        characters = np.concatenate([characters, characters * row])
    return characters @ table.astype(float) / len(table)


def _dual(name: str) -> str:
    """The name of the negation (De Morgan)."""
    return name.replace("XOR", "+").replace("OR", "&").replace("AND", "OR").replace("&", "AND").replace("+", "XOR")


@functools.cache
def read_once(bits: int) -> dict[bytes, str]:
    """Every formula of XOR, AND and OR that reads each bit, or its negation, once: its table of signs (true is +1), and
    a name that leaves negations of bits out."""
    inputs = _signs(bits)

    @functools.cache
    def over(places: tuple[int, ...]) -> dict[bytes, str]:
        if len(places) == 1:
            row = inputs[places[0]]
            return {row.tobytes(): str(places[0] + 1), (-row).tobytes(): str(places[0] + 1)}
        found: dict[bytes, str] = {}
        rest = places[1:]
        for others in itertools.chain(*(itertools.combinations(rest, size) for size in range(len(rest)))):
            first, second = (places[0], *others), tuple(place for place in rest if place not in others)
            for (left, one), (right, two) in itertools.product(over(first).items(), over(second).items()):
                f, g = np.frombuffer(left, np.int8), np.frombuffer(right, np.int8)
                both = np.where((f > 0) & (g > 0), 1, -1).astype(np.int8)
                for table, name in (
                    (f * g, f"XOR({one}, {two})"),
                    (both, f"AND({one}, {two})"),
                    (-both, _dual(f"AND({one}, {two})")),
                ):
                    found.setdefault(table.tobytes(), name)
        return found

    return over(tuple(range(bits)))


def ands(coefficient: float) -> int:
    """How many gates are no XOR: each halves the coefficient of the whole parity."""
    return round(-np.log2(abs(coefficient)))


def level(gates: int) -> float:
    """Share of inputs on which a formula with so many ANDs and ORs is the parity: 3/4 with one, 5/8 with two."""
    return 0.5 + 0.5 ** (1 + gates)


def nearest(found: Float[np.ndarray, " subset"]) -> tuple[str, Float[np.ndarray, " subset"]]:
    """The formula, not the parity itself, that is closest in its worst coefficient: its name and its coefficients."""
    names, laws = _laws(len(found).bit_length() - 1)
    best = int(np.abs(laws - found).max(axis=1).argmin())
    return names[best], laws[best]


@functools.cache
def _laws(bits: int) -> tuple[list[str], Float[np.ndarray, "formula subset"]]:
    tables = {each: coefficients(np.frombuffer(each, np.int8)) for each in read_once(bits)}
    kept = [each for each, law in tables.items() if abs(law[-1]) < 1]
    return [read_once(bits)[each] for each in kept], np.stack([tables[each] for each in kept])
