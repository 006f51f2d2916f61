"""Random numbers as `jax.random` draws them, the same bits, several times faster on a CPU.

There JAX compiles Threefry's twenty rounds as a loop with a pass over memory for each few of them; written out they are
one pass. A fused program would compute that pass again for every reader of the numbers; a loop that ends after one
turn, which the compiler cannot know, keeps it from doing so.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, UInt32

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def uniform(key: Key[Array, ""], shape: tuple[int, ...], low: float) -> Float[Array, "..."]:
    """In [low, 1), bit for bit `jax.random.uniform(key, shape, minval=low)`."""

    def written_out(key):
        mantissa = words(key, shape) >> 9  # 23 bits of a number in [1, 2)
        unit = jax.lax.bitcast_convert_type(mantissa | np.uint32(0x3F800000), jnp.float32) - 1
        return jnp.maximum(np.float32(low), unit * np.float32(1 - low) + np.float32(low))

    def theirs(key):
        return jax.random.uniform(key, shape, minval=low)

    usual = str(jax.random.key_impl(key)) == "threefry2x32" and jax.config.values["jax_threefry_partitionable"]
    if not usual or jax.config.values["jax_enable_x64"] or np.prod(shape) >= 2**32:
        return theirs(key)
    return jax.lax.platform_dependent(key, cpu=written_out, default=theirs)


def words(key: Key[Array, ""], shape: tuple[int, ...]) -> UInt32[Array, "..."]:
    """Threefry-2x32 of (0, 0), (0, 1), ..., the two words of each joined by exclusive or."""
    first, second = jax.random.key_data(key)
    keys = (first, second, first ^ second ^ np.uint32(0x1BD11BDA))
    counts = jax.lax.iota(jnp.uint32, int(np.prod(shape))).reshape(shape)

    def rounds(_, __):
        x, y = jnp.broadcast_to(keys[0], shape), counts + keys[1]
        for group in range(5):
            for rotation in ROTATIONS[group % 2]:
                x = x + y
                y = x ^ ((y << rotation) | (y >> (32 - rotation)))
            x = x + keys[(group + 1) % 3]
            y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
        return x ^ y

    once = jnp.minimum(first | np.uint32(1), np.uint32(1)).astype(jnp.int32)
    return jax.lax.fori_loop(0, once, rounds, jnp.zeros(shape, jnp.uint32))
