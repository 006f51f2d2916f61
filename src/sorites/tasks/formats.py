"""Formats map signs to tokens. Parity of signs is XOR of bits only where a bit is (1 - sign) / 2."""

from jaxtyping import Array, Int


def bits_of_signs(signs: Int[Array, "*shape"]) -> Int[Array, "*shape"]:
    """+1 -> 0, -1 -> 1: the product of signs becomes the XOR of bits (wen's format)."""
    return (1 - signs) // 2


def signs_of_bits(bits: Int[Array, "*shape"]) -> Int[Array, "*shape"]:
    """0 -> +1, 1 -> -1: the inverse of `bits_of_signs`."""
    return 1 - 2 * bits


def truth_of_signs(signs: Int[Array, "*shape"]) -> Int[Array, "*shape"]:
    """+1 -> 1, -1 -> 0: AND and OR of signs become AND and OR of bits; parity becomes XNOR."""
    return (1 + signs) // 2
