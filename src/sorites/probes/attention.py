"""Where a model looks: mass on the children of each thought, entropy, concentration."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..errors import SpecError
from ..models import AbstractModel
from ..tasks import Chain
from .base import AbstractProbe


def child_masses(
    model: AbstractModel, children: Int[Array | np.ndarray, "thought child *batch"], chains: Chain | None = None
) -> Float[Array, "thought child"]:
    """Measure the attention of each thought on its children.

    Args:
        model: shows its attention.
        children: positions; -1 for an absent child. They may differ between the chains.
        chains: a batch; None where attention does not depend on the input.

    Returns:
        The mean over the chains, in the layer and head with the largest attention on the thought's children; 0 for an
        absent child.
    """
    children = jnp.asarray(children)
    heads = jnp.concatenate([_on_children(layer, children) for layer in model.attend(chains)])  # pyright: ignore
    best = jnp.argmax(heads.sum(axis=-1), axis=0)
    return jnp.take_along_axis(heads, best[None, :, None], axis=0)[0]


def _on_children(
    layer: Float[Array, "head thought position batch"], children: Array
) -> Float[Array, "head thought child"]:
    if children.ndim == 2:
        mean = layer.mean(axis=-1)
        found = jnp.take_along_axis(mean, jnp.broadcast_to(children[None], (len(mean), *children.shape)), axis=2)
        return jnp.where(children >= 0, found, 0)
    wide = jnp.broadcast_to(children[None], (len(layer), *children.shape))
    return jnp.where(children >= 0, jnp.take_along_axis(layer, wide, axis=2), 0).mean(axis=-1)


class ChildMass(AbstractProbe):
    """Per level, the smallest attention that any of its thoughts has on its children together, from 0 to 1.

    It is the mean over the first `count` chains. Thoughts without children are left out.
    """

    needs_supervision: ClassVar[bool] = False
    count: int = eqx.field(static=True, default=64)

    def __call__(self, model, task, secret, chains, supervisions):
        layout = task.layout
        some = jax.tree.map(lambda leaf: leaf[..., : self.count], chains)
        children, levels = task.children(secret, some.tokens), np.asarray(layout.levels)
        mass, counted = child_masses(model, children, some).sum(axis=1), task.counted(secret)
        if not isinstance(counted, np.ndarray):
            exists = counted & jnp.any(children >= 0, axis=tuple(range(1, children.ndim)))
            mass = jnp.where(exists, mass, jnp.inf)
        return {"child_mass": jnp.stack([mass[levels == level].min() for level in range(1, layout.depth + 1)])}


def normalised_entropy(attention: Float[Array, "query source"]) -> Float[Array, " query"]:
    """Entropy of each row over the log of its number of sources: 1 is uniform, 0 is one-hot."""
    entropy = -jnp.sum(jax.scipy.special.xlogy(attention, attention), axis=-1)
    return entropy / np.log(max(attention.shape[-1], 2))


class Entropy(AbstractProbe):
    """Per layer, the mean normalised entropy of the rows that it writes; log 2 / log sources at the goal."""

    needs_supervision: ClassVar[bool] = False

    def __call__(self, model, task, secret, chains, supervisions):
        by_position = getattr(model, "attention", None)
        if by_position is None:
            raise SpecError(f"this entropy is of attention by position: {type(model).__name__}; use HeadEntropy")
        return {"entropy": jnp.stack([normalised_entropy(layer).mean() for layer in by_position()])}


class HeadEntropy(AbstractProbe):
    """Of a GPT: wen's normalised entropies of every head over the first `count` chains."""

    needs_supervision: ClassVar[bool] = False
    count: int = eqx.field(static=True, default=64)

    def __call__(self, model, task, secret, chains, supervisions):
        if not hasattr(model, "maps"):
            raise SpecError(f"attention heads are those of a gpt: {type(model).__name__}; use Entropy")
        some = jax.tree.map(lambda leaf: leaf[..., : self.count], chains)
        heads: Any = model
        first = heads.first_asked(task.layout)
        # Apart from what follows: fused into one kernel, 1,024 members of width 64 on a GPU do not compile in minutes.
        maps = jax.lax.optimization_barrier(heads.maps(some))
        return head_entropies(maps, first, first + jnp.sum(task.counted(secret)))


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
        fraction = entropy / np.log(np.arange(2, attention.shape[2] + 1)).reshape(1, 1, -1).astype(entropy.dtype)
        token = np.arange(1, attention.shape[2])
        for name, first in (("entropy", 1), ("entropy_answer", max(first_answer, 1))):
            counted = ((token >= first) & (token < (attention.shape[2] if length is None else length)))[None, None]
            found[name].append(jnp.min(fraction, axis=-1, where=counted, initial=jnp.inf).mean(axis=0))
            found[name + "_mean"].append(jnp.mean(fraction, axis=-1, where=counted).mean(axis=0))
    return {name: jnp.stack(layers) for name, layers in found.items()}
