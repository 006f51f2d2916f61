"""The first gradient of a stage for any even link, by the law of the sum of its keys (log-icot Lemmas 7 and 9).

`tree_law` has the cosine in closed form. Here the children's values and the sum S of all N keys have their joint law,
from the subtrees' sums, and every expectation is a finite sum over it.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .class_signal import subtree_sums
from .tree_law import keys_of_stage

Link = Callable[[Float[Array, "*shape"]], Float[Array, "*shape"]]


def child_gradient(bits: int, sparsity: int, stage: int, link: Link) -> float:
    """dL/dw_{c,m} = (1/N) E[(phi(z) - b_m) phi'(z) (x_c - z)] at uniform attention, lower layers exact."""
    keys = keys_of_stage(bits, sparsity, stage)
    below = dict(zip((1, -1), subtree_sums(stage - 1), strict=True))  # by the value of the child at the top
    rest = np.array([1.0])
    for _ in range(2 * (sparsity // 2**stage - 1)):
        rest = np.convolve(rest, below[1] + below[-1])
    for _ in range(bits - sparsity):
        rest = np.convolve(rest, [0.5, 0.5])
    z = np.arange(-keys, keys + 1, 2) / keys
    with jax.enable_x64(True):
        value, slope = (np.asarray(each) for each in jax.jvp(link, (jnp.asarray(z),), (jnp.ones_like(z),)))
    total = 0.0
    for first in (1, -1):
        for second in (1, -1):
            probability = np.convolve(np.convolve(below[first], below[second]), rest)
            total += float(probability @ ((value - first * second) * slope * (first - z)))
    return total / keys


def signal(bits: int, sparsity: int, stage: int, link: Link, curvature: float) -> float:
    """The same over the leading term -2c/n_t^2: the s that a calibrated rate divides by."""
    return child_gradient(bits, sparsity, stage, link) / (-2 * curvature / keys_of_stage(bits, sparsity, stage) ** 2)
