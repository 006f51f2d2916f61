"""Supervision is a product: prefix x labels x where it is taught x signal."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ..errors import require
from ..models import AbstractModel
from ..tasks import AbstractTask, Chain, Layout
from .labels import AbstractLabels, Truth
from .prefix import AbstractPrefix, Shown
from .signals import AbstractSignal, Squared

FLIPS = 1_000_003  # folds the label noise's key out of the term's


def _weights(where) -> Array | np.ndarray:
    return where if isinstance(where, jax.Array) else np.asarray(where, np.float32)


def _chance(flips) -> Array | np.ndarray | None:
    return flips if flips is None or isinstance(flips, jax.Array) else np.asarray(flips, np.float32)


class Supervision(eqx.Module):
    """One term of what a stage minimises. `where` weighs thoughts and slots; `depth` is the readout layer."""

    prefix: AbstractPrefix
    labels: AbstractLabels
    where: Float[Array | np.ndarray, "thought slot"] = eqx.field(converter=_weights)
    signal: AbstractSignal
    depth: int | None = eqx.field(static=True, default=None)
    flips: Float[Array | np.ndarray, ""] | None = eqx.field(
        converter=_chance, default=None
    )  # chance that a label (so a token's reward) is inverted

    def __call__(
        self, model: AbstractModel, task: AbstractTask, secret, chains: Chain, key: Key[Array, ""]
    ) -> Float[Array, ""]:
        reading = self.prefix(model, chains, key, self.depth)
        labels = self.labels(task, secret, chains, reading.tokens)
        if self.flips is not None:
            wrong = jax.random.bernoulli(jax.random.fold_in(key, FLIPS), self.flips, labels.shape)
            labels = jnp.where(wrong, -labels, labels)
        return self.signal(reading.scores, labels, self.where, reading.tokens[task.layout.inputs :])


def without(layout: Layout, removed: int, signal: AbstractSignal | None = None) -> Supervision:
    """True thoughts with the first `removed` padded, taught on the ones that are left.

    The readout is the layer of the first thought that is left, as in log-icot's stages; remove none and
    you have full chain-of-thought, remove all but the answer and no thought is left to read.
    """
    require(
        0 <= removed < layout.thoughts,
        f"the answer is never removed: removed={removed} of {layout.thoughts}; use 0 to {layout.thoughts - 1}",
    )
    thoughts = np.arange(layout.thoughts)
    shown = np.concatenate([np.ones(layout.inputs, bool), thoughts >= removed])
    where = np.repeat((thoughts >= removed)[:, None], layout.slots, axis=1)
    return Supervision(Shown(shown), Truth(), where, signal or Squared(), layout.levels[removed])


def teacher_forcing(layout: Layout, signal: AbstractSignal | None = None) -> Supervision:
    """Every thought taught, every true thought shown, all layers read."""
    where = np.ones((layout.thoughts, layout.slots))
    return Supervision(Shown(np.ones(layout.positions, bool)), Truth(), where, signal or Squared())


def direct(layout: Layout, signal: AbstractSignal | None = None) -> Supervision:
    """The answer alone is taught and every thought is padded."""
    where = np.zeros((layout.thoughts, layout.slots))
    where[-1] = 1
    return Supervision(Shown(inputs_only(layout)), Truth(), where, signal or Squared())


def inputs_only(layout: Layout) -> np.ndarray:
    """Shown mask of a chain whose thoughts are all padded: how an internalised model is tested."""
    return np.arange(layout.positions) < layout.inputs
