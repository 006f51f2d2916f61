"""Where a model looks: mass on the children of each thought, entropy, concentration."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..models import AbstractModel
from ..tasks import Layout
from .base import AbstractProbe


def child_masses(
    model: AbstractModel, layout: Layout, children: Int[Array, "thought child"]
) -> Float[Array, "thought child"]:
    """Attention of each thought on each of its children, in the layer that writes its level."""
    layers, inputs, ends = model.attention(), layout.inputs, layout.ends
    if len(layers) == 1 and layout.depth > 1:  # one layer writes every level
        return jnp.take_along_axis(layers[0], children, axis=1)
    rows = [
        jnp.take_along_axis(layer, children[ends[level] - inputs : ends[level + 1] - inputs], axis=1)
        for level, layer in enumerate(layers)
    ]
    return jnp.concatenate(rows)


class ChildMass(AbstractProbe):
    """Per level, the smallest attention mass that any of its thoughts has on its children together."""

    def __call__(self, model, task, secret, chains, taught):
        layout = task.layout
        mass = child_masses(model, layout, task.children(secret)).sum(axis=1)
        levels = np.asarray(layout.levels)
        return {"child_mass": jnp.stack([mass[levels == level].min() for level in range(1, layout.depth + 1)])}


def normalised_entropy(attention: Float[Array, "query source"]) -> Float[Array, " query"]:
    """Entropy of each row over the log of its number of sources: 1 is uniform, 0 is one-hot."""
    entropy = -jnp.sum(jax.scipy.special.xlogy(attention, attention), axis=-1)
    return entropy / np.log(max(attention.shape[-1], 2))


class Entropy(AbstractProbe):
    """Per layer, the mean normalised entropy of the rows that it writes; log 2 / log sources at the goal."""

    def __call__(self, model, task, secret, chains, taught):
        return {"entropy": jnp.stack([normalised_entropy(layer).mean() for layer in model.attention()])}


def head_entropies(
    maps: tuple[Float[Array, "batch head query position"], ...],
    first_answer: int,
    length: Int[Array, ""] | int | None = None,
) -> dict[str, Float[Array, "layer head"]]:
    """Normalised entropy H(P[i]) / log i of every head, the mean over sequences of its minimum or mean over tokens
    i >= 2 (wen, Eq. 1: the minimum over all); `answer` takes the tokens that predict, from `first_answer` on. Tokens
    from `length` on do not count."""
    found: dict[str, list] = {"entropy": [], "entropy_mean": [], "entropy_answer": [], "entropy_answer_mean": []}
    for attention in maps:
        rows = attention.astype(jnp.promote_types(attention.dtype, jnp.float32))
        entropy = -jnp.sum(jax.scipy.special.xlogy(rows, rows), axis=-1)[..., 1:]
        share = entropy / np.log(np.arange(2, attention.shape[2] + 1)).reshape(1, 1, -1).astype(entropy.dtype)
        token = np.arange(1, attention.shape[2])
        for name, first in (("entropy", 1), ("entropy_answer", max(first_answer, 1))):
            counted = ((token >= first) & (token < (attention.shape[2] if length is None else length)))[None, None]
            found[name].append(jnp.min(share, axis=-1, where=counted, initial=jnp.inf).mean(axis=0))
            found[name + "_mean"].append(jnp.mean(share, axis=-1, where=counted).mean(axis=0))
    return {name: jnp.stack(layers) for name, layers in found.items()}
