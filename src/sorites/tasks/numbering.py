"""All inputs of n bits in a keyed random order, computed from their number: nothing is stored, nothing repeats.

The first numbers are the training inputs, the last ones are held out, so the two never meet. A Feistel network is a
bijection whatever its round function; ours is a 32-bit avalanche hash. Above 50 bits collisions are negligible
(10^7 numbers: below 10^-1) and every word of the input is a hash of its number.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key, UInt32

ROUNDS = 8
LISTED = 50  # bits up to which the order is a bijection
Words = UInt32[Array, "*shape"]


def round_keys(key: Key[Array, ""]) -> UInt32[Array, " round"]:
    """The random words that fix an order."""
    return jax.random.bits(key, (ROUNDS,), jnp.uint32)


def mixed(word: Words) -> Words:
    """A 32-bit hash in which every input bit flips every output bit with probability near one half."""
    word = (word ^ (word >> 16)) * np.uint32(0x7FEB352D)
    word = (word ^ (word >> 15)) * np.uint32(0x846CA68B)
    return word ^ (word >> 16)


def feistel(left: Words, right: Words, keys, high_mask, low_mask) -> tuple[Words, Words]:
    """A bijection of pairs of words under the two masks."""
    for turn in range(0, ROUNDS, 2):
        left = left ^ (mixed(right ^ keys[turn]) & high_mask)
        right = right ^ (mixed(left ^ keys[turn + 1]) & low_mask)
    return left, right


def inputs_of(
    numbers: Words, keys: UInt32[Array, " round"], bits: int, held_out: bool = False
) -> Int[Array, "batch bits"]:
    """The inputs with these numbers; `held_out` counts from the end of the order."""
    where = np.arange(bits)
    if bits > LISTED:
        numbers = numbers | np.uint32(1 << 31) if held_out else numbers
        count = -(-bits // 32)
        stems = mixed(mixed(numbers ^ keys[0]) + keys[1])[:, None]
        offsets = np.arange(count, dtype=np.uint32)[None] * np.uint32(0x9E3779B9)
        words = mixed(mixed(stems + offsets) ^ keys[2])
        return ((words[:, where // 32] >> (where % 32).astype(np.uint32)[None]) & 1).astype(jnp.int32)
    low = bits - bits // 2
    high_mask, low_mask = np.uint32(2 ** (bits - low) - 1), np.uint32(2**low - 1)
    left, right = numbers >> np.uint32(low), numbers & low_mask
    if held_out:  # the complement of a number is its mirror image; done on the halves it needs no 64 bits
        left, right = left ^ high_mask, right ^ low_mask
    left, right = feistel(left, right, keys, high_mask, low_mask)
    words = jnp.where((where >= low)[None], left[:, None], right[:, None])
    shifts = np.where(where >= low, where - low, where).astype(np.uint32)
    return ((words >> shifts[None]) & 1).astype(jnp.int32)


def shuffled(
    places: Words, passes: Words, size: Int[Array, ""], keys: UInt32[Array, " round"]
) -> UInt32[Array, " batch"]:
    """The element at each place of a pass over 0..size-1: every pass is another random order.

    Numbers that leave 0..size-1 walk on along their cycle until they return, which keeps the map a bijection.
    """
    size = size.astype(jnp.uint32)
    width = 32 - jax.lax.clz(jnp.maximum(size - 1, 1))
    low, high = (width + 1) // 2, width // 2
    turned = mixed(keys[:, None] + mixed(passes)[None])

    one = np.uint32(1)
    high_mask, low_mask = (one << high) - one, (one << low) - one

    def move(numbers):
        left, right = feistel(numbers >> low, numbers & low_mask, turned, high_mask, low_mask)
        return (left << low) | right

    def walk(numbers):
        return jnp.where(numbers < size, numbers, move(numbers))

    return jax.lax.while_loop(lambda numbers: jnp.any(numbers >= size), walk, move(places))
