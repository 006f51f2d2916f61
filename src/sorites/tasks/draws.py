"""Random numbers as `jax.random` draws them, the same bits, several times faster on a CPU and in fewer programs.

There JAX compiles Threefry's twenty rounds as a loop with a pass over memory for each few of them; written out they are
one pass. A fused program would compute that pass again for every reader of the numbers; a loop that ends after one
turn, which the compiler cannot know, keeps it from doing so.
"""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, UInt32

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
LOWEST = np.nextafter(np.float32(-1), np.float32(0))  # a normal number is made of one in [LOWEST, 1)


def uniform(key: Key[Array, ""], shape: tuple[int, ...], low: float) -> Float[Array, "..."]:
    """In [low, 1), bit for bit `jax.random.uniform(key, shape, minval=low)`."""

    def written_out(key):
        return from_bits(words(key, shape), np.float32(low))

    def theirs(key):
        return jax.random.uniform(key, shape, minval=low)

    if not usual(key) or np.prod(shape) >= 2**32:
        return theirs(key)
    return jax.lax.platform_dependent(key, cpu=written_out, default=theirs)


def normals(keys: Sequence[Key[Array, ""]], shapes: Sequence[tuple[int, ...]]) -> list[Float[Array, "..."]]:
    """`jax.random.normal` of every key and shape: the same numbers, drawn side by side in one pass, for every draw
    of its own takes a program a quarter of a second to compile."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    if not all(map(usual, keys)) or sum(sizes) >= 2**32:
        return [jax.random.normal(key, shape) for key, shape in zip(keys, shapes, strict=True)]
    data = [jax.random.key_data(key) for key in keys]

    def along(values: Callable[[int], Array]) -> UInt32[Array, " number"]:
        return jnp.concatenate([values(place) for place in range(len(sizes))])

    first, second = (
        along(lambda place, half=half: jnp.broadcast_to(data[place][half], sizes[place])) for half in (0, 1)
    )
    counts = along(lambda place: jax.lax.iota(jnp.uint32, sizes[place]))

    def drawn():
        return jax.lax.erf_inv(from_bits(threefry(first, second, counts), LOWEST))

    parts = jnp.split(once(drawn, data[0][0]), np.cumsum(sizes)[:-1])
    return [np.float32(np.sqrt(2)) * part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def usual(key: Key[Array, ""]) -> bool:
    """Keys and numbers as JAX has them by default."""
    known = str(jax.random.key_impl(key)) == "threefry2x32" and jax.config.values["jax_threefry_partitionable"]
    return known and not jax.config.values["jax_enable_x64"]


def from_bits(bits: UInt32[Array, "..."], low: np.float32) -> Float[Array, "..."]:
    """In [low, 1), from 23 of 32 bits: a number in [1, 2), less one."""
    unit = jax.lax.bitcast_convert_type(bits >> 9 | np.uint32(0x3F800000), jnp.float32) - 1
    return jnp.maximum(low, unit * (np.float32(1) - low) + low)


def words(key: Key[Array, ""], shape: tuple[int, ...]) -> UInt32[Array, "..."]:
    """Threefry-2x32 of (0, 0), (0, 1), ..., the two words of each joined by exclusive or."""
    first, second = jax.random.key_data(key)
    counts = jax.lax.iota(jnp.uint32, int(np.prod(shape))).reshape(shape)
    return once(lambda: threefry(first, second, counts), first)


def threefry(first: UInt32[Array, "..."], second: UInt32[Array, "..."], counts: UInt32[Array, "..."]) -> Array:
    """The word of each count under the key of these two halves."""
    keys = (first, second, first ^ second ^ np.uint32(0x1BD11BDA))
    x, y = jnp.broadcast_to(keys[0], counts.shape), counts + keys[1]
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            x = x + y
            y = x ^ ((y << rotation) | (y >> (32 - rotation)))
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x ^ y


def once(made: Callable[[], Array], word: UInt32[Array, ""]) -> Array:
    """What is made, by a loop of one turn; any word will do, it is there to hide that number from the compiler."""
    shape = jax.eval_shape(made)
    turns = jnp.minimum(word | np.uint32(1), np.uint32(1)).astype(jnp.int32)
    return jax.lax.fori_loop(0, turns, lambda _, __: made(), jnp.zeros(shape.shape, shape.dtype))
