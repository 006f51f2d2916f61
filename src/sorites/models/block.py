"""The Log-ICoT transformer exactly as printed (Defs. 1 and 3): embeddings of size d = T + B(L+1).

It reads a whole data set at once, D in R^{B x T}; positions are one-hot, W_KQ holds W in its positional
block, W_V = I, W_O shifts residual block l to l+1. Slow on purpose: `models.gated` is what one trains.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..tasks import Layout
from .links import AbstractLink
from .masks import lower_levels_and_inputs

Weights = Float[Array, "layer source query"]  # w_{j,m}: j the key, m the query


def embedding(data: Float[Array, "B T"], layers: int) -> Float[Array, "d T"]:
    """x_j = (p_j; b_j; 0_{BL})."""
    samples, positions = data.shape
    return jnp.concatenate([jnp.eye(positions), data, jnp.zeros((samples * layers, positions))])


def gates(layout: Layout) -> np.ndarray:
    """Eq. (2): g^(l)_m = 1 iff n_l < m <= n_{l+1}; shape (layer, position)."""
    level = np.asarray(layout.position_levels)
    return np.stack([(level == layer).astype(float) for layer in range(1, layout.depth + 1)])


def output_matrix(layer: int, layers: int, positions: int, samples: int) -> Float[Array, "d d"]:
    """W_O^(l): the block shift e_{l+1} e_l^T (x) I_B below a zero positional block; layers count from 1."""
    shift = np.zeros((layers + 1, layers + 1))
    shift[layer, layer - 1] = 1
    return jax.scipy.linalg.block_diag(jnp.zeros((positions, positions)), jnp.kron(shift, jnp.eye(samples)))


def readout(layer: int, layers: int, positions: int, samples: int) -> Float[Array, "d B"]:
    """Psi_l: selects residual block l+1."""
    select = np.zeros((layers + 1, 1))
    select[layer] = 1
    return jnp.concatenate([jnp.zeros((positions, samples)), jnp.kron(select, jnp.eye(samples))])


def attend(stream: Float[Array, "d T"], weight: Float[Array, "T T"], layout: Layout) -> Float[Array, "d T"]:
    """Attn(X; W) = X S(X^T W_KQ X + C), column-wise softmax; an empty column gives zeros."""
    positions = layout.positions
    key_query = jnp.zeros((stream.shape[0],) * 2).at[:positions, :positions].set(weight)
    allowed = jnp.asarray(lower_levels_and_inputs(layout)).T  # C_{j,m} = 0 where allowed
    return stream @ jax.nn.softmax(stream.T @ key_query @ stream, axis=0, where=allowed)


def forward(
    weights: Weights,
    data: Float[Array, "B T"],
    layout: Layout,
    link: AbstractLink,
    gate: Float[Array, "layer T"] | None = None,
) -> list[Float[Array, "d T"]]:
    """X^(0), ..., X^(L) with X^(l) = X^(l-1) + W_O GC(phi(Attn(X^(l-1))), X^(l-1); g)."""
    layers, (samples, positions) = layout.depth, data.shape
    gate = jnp.asarray(gates(layout)) if gate is None else gate
    streams = [embedding(data, layers)]
    for layer in range(1, layers + 1):
        before, open_ = streams[-1], gate[layer - 1][None]
        block = link(attend(before, weights[layer - 1], layout))
        mixed = block * open_ + before * (1 - open_)  # GC(A, B; g) = A diag(g) + B (I - diag(g))
        streams.append(before + output_matrix(layer, layers, positions, samples) @ mixed)
    return streams


def decode(stream: Float[Array, "d T"], layer: int, layout: Layout, samples: int) -> Float[Array, "B T"]:
    """f^(l)(D) = Psi_l^T X^(L)."""
    return readout(layer, layout.depth, layout.positions, samples).T @ stream


def full_weights(live: tuple[Float[Array, "_node _source"], ...], layout: Layout) -> Weights:
    """The live weights of `Gated` in their places of the printed T x T matrices."""
    full = jnp.zeros((layout.depth, layout.positions, layout.positions))
    for layer, weight in enumerate(live):
        start, end = layout.ends[layer], layout.ends[layer + 1]
        full = full.at[layer, :start, start:end].set(weight.T)
    return full
