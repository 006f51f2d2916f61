"""Random numbers with the bits of `jax.random`, drawn several times faster on a CPU and in fewer programs.

On a CPU, JAX compiles the twenty rounds of Threefry as a loop with a pass over memory for every few rounds; here they
are one pass. XLA would fuse that pass into every reader of the numbers and repeat it; a loop of one turn, whose count
the compiler cannot know, prevents this.
"""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, UInt32

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
LOWEST = np.nextafter(np.float32(-1), np.float32(0))  # a normal number is made of one in [LOWEST, 1)


def uniform(key: Key[Array, ""], shape: tuple[int, ...], low: float) -> Float[Array, "..."]:
    """Draw uniform numbers.

    Args:
        key: of any implementation; only Threefry is drawn the fast way.
        shape: of the result.
        low: the lower end of the interval.

    Returns:
        Numbers in [low, 1), bit for bit those of `jax.random.uniform(key, shape, minval=low)`.
    """

    def written_out(key):
        return _from_bits(_words(key, shape), np.float32(low))

    def theirs(key):
        return jax.random.uniform(key, shape, minval=low)

    if not _usual(key) or np.prod(shape) >= 2**32:
        return theirs(key)
    return jax.lax.platform_dependent(key, cpu=written_out, default=theirs)


def normals(keys: Sequence[Key[Array, ""]], shapes: Sequence[tuple[int, ...]]) -> list[Float[Array, "..."]]:
    """Draw normal numbers for several keys in one pass; each draw alone takes a quarter of a second to compile.

    Args:
        keys: one per array.
        shapes: one per array.

    Returns:
        The arrays `jax.random.normal(key, shape)`.
    """
    sizes = [int(np.prod(shape)) for shape in shapes]
    if not all(map(_usual, keys)) or sum(sizes) >= 2**32:
        return [jax.random.normal(key, shape) for key, shape in zip(keys, shapes, strict=True)]
    data = [jax.random.key_data(key) for key in keys]

    def along(values: Callable[[int], Array]) -> UInt32[Array, " number"]:
        return jnp.concatenate([values(place) for place in range(len(sizes))])

    first, second = (
        along(lambda place, half=half: jnp.broadcast_to(data[place][half], sizes[place])) for half in (0, 1)
    )
    counts = along(lambda place: jax.lax.iota(jnp.uint32, sizes[place]))

    def drawn():
        return jax.lax.erf_inv(_from_bits(_threefry(first, second, counts), LOWEST))

    parts = jnp.split(_once(drawn, data[0][0]), np.cumsum(sizes)[:-1])
    return [np.float32(np.sqrt(2)) * part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def _usual(key: Key[Array, ""]) -> bool:
    """Whether the key is Threefry and numbers are float32, as is the default of JAX."""
    known = str(jax.random.key_impl(key)) == "threefry2x32" and jax.config.values["jax_threefry_partitionable"]
    return known and not jax.config.values["jax_enable_x64"]


def _from_bits(bits: UInt32[Array, "..."], low: np.float32) -> Float[Array, "..."]:
    """In [low, 1), from 23 of 32 bits: a number in [1, 2), less one."""
    unit = jax.lax.bitcast_convert_type(bits >> 9 | np.uint32(0x3F800000), jnp.float32) - 1
    return jnp.maximum(low, unit * (np.float32(1) - low) + low)


def _words(key: Key[Array, ""], shape: tuple[int, ...]) -> UInt32[Array, "..."]:
    """Threefry-2x32 of (0, 0), (0, 1), ...; the two words of each are combined by exclusive or."""
    first, second = jax.random.key_data(key)
    counts = jax.lax.iota(jnp.uint32, int(np.prod(shape))).reshape(shape)
    return _once(lambda: _threefry(first, second, counts), first)


def _threefry(first: UInt32[Array, "..."], second: UInt32[Array, "..."], counts: UInt32[Array, "..."]) -> Array:
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


def _once(made: Callable[[], Array], word: UInt32[Array, ""]) -> Array:
    """Compute `made()` in a loop of one turn. The number of turns comes from any word, which hides it from XLA."""
    shape = jax.eval_shape(made)
    turns = jnp.minimum(word | np.uint32(1), np.uint32(1)).astype(jnp.int32)
    return jax.lax.fori_loop(0, turns, lambda _, __: made(), jnp.zeros(shape.shape, shape.dtype))
