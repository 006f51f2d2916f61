"""Supervision is a product: prefix x labels x where it is taught x objective."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, Num

from ..errors import require
from ..fields import numbers, numbers_if_any, require_kind, require_whole
from ..models import AbstractModel
from ..tasks import AbstractTask, Chain, Layout
from .labels import AbstractLabels, TrueLabels
from .objectives import AbstractObjective, Squared
from .prefix import AbstractPrefix, TruePrefix

FLIPS = 1_000_003  # folds the label noise's key out of the term's


class Batch(eqx.Module):
    """Own chains and what they are worth, made once and used for several updates."""

    chains: Chain
    tokens: Num[Array, "thought slot batch"]
    old: Float[Array, "thought slot batch"]  # log-probability under the policy that wrote them
    advantage: Float[Array, "thought slot batch"]


class Supervision(eqx.Module):
    """One term of what a stage minimises. `where` weighs thoughts and slots; `level` is the first that is asked for,
    which layered models read out at its own depth. `normalised` makes the weights of the thoughts that there are sum to
    one; `answer` teaches the thought that is asked for, with the last one's weights, wherever the secret puts it."""

    prefix: AbstractPrefix
    labels: AbstractLabels
    where: Float[Array | np.ndarray, "thought slot"] = eqx.field(converter=numbers)
    objective: AbstractObjective
    level: int | None = eqx.field(static=True, default=None)
    flips: Float[Array | np.ndarray, ""] | None = eqx.field(
        converter=numbers_if_any, default=None
    )  # chance that a label (so a token's reward) is another one
    normalised: bool = eqx.field(static=True, default=False)
    answer: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        require_kind("prefix", self.prefix, AbstractPrefix, "TruePrefix()")
        require_kind("labels", self.labels, AbstractLabels, "TrueLabels()")
        require_kind("objective", self.objective, AbstractObjective, "Squared()")
        if isinstance(self.flips, np.ndarray):
            good = bool(((self.flips >= 0) & (self.flips <= 1)).all())
            require(
                good, f"got flips={self.flips.tolist()}; allowed are probabilities from 0 to 1; use for example 0.1"
            )

    def __call__(
        self, model: AbstractModel, task: AbstractTask, secret, chains: Chain, key: Key[Array, ""] | None
    ) -> Float[Array, ""]:
        """Without a key: on held-out chains, with true labels."""
        reading, labels, where = self._met(model, task, secret, chains, key)
        return self.objective(reading.prediction, labels, where, reading.tokens[task.layout.inputs :])

    def _met(self, model, task: AbstractTask, secret, chains: Chain, key):
        reading = self.prefix(model, chains, key, model.depth_of(self.level))
        labels = self.labels(task, secret, chains, reading.tokens)
        if self.flips is not None and key is not None:
            labels = task.alphabet.corrupt(labels, jax.random.fold_in(key, FLIPS), jnp.asarray(self.flips))
        return reading, labels, self._weights(task, secret, chains)

    def _weights(self, task: AbstractTask, secret, chains: Chain):
        where, counted, asked = self.where, task.counted(secret), task.answer(secret)
        if self.answer and not isinstance(asked, int):
            where = jnp.where((jnp.arange(len(where)) == asked)[:, None], jnp.asarray(where)[-1:], 0)
        if not (isinstance(counted, np.ndarray) and counted.all()):
            where = jnp.where(counted[:, None], jnp.asarray(where), 0)
        where = where / jnp.sum(where) if self.normalised else where
        if chains.weight is None:
            return where
        share = chains.weight / jnp.maximum(chains.weight.mean(), 1e-9)
        return where[..., None] * share[None, None]

    def collect(self, model: AbstractModel, task: AbstractTask, secret, chains: Chain, key: Key[Array, ""]) -> Batch:
        """The batch that several updates will use."""
        reading, labels, where = self._met(model, task, secret, chains, key)
        tokens = reading.tokens[task.layout.inputs :]
        advantage = self.objective.policy_gradient.advantage(reading.prediction, labels, where, tokens)  # pyright: ignore
        batch = Batch(chains.with_tokens(reading.tokens), tokens, reading.prediction.log_prob(tokens), advantage)
        return jax.lax.stop_gradient(batch)

    def surrogate(self, model: AbstractModel, batch: Batch) -> Float[Array, ""]:
        """The surrogate loss on a batch that an earlier state of the model generated."""
        prediction = model.predict_batch(batch.chains, model.depth_of(self.level))
        return self.objective.surrogate(prediction, batch)  # pyright: ignore


def require_layout(layout: Any) -> None:
    """Refuse anything else, often a task.

    Args:
        layout: what a function of a layout was given.

    Raises:
        SpecError: where it is no `Layout`.
    """
    require_kind("layout", layout, Layout, "task.layout")


def without(layout: Layout, removed: int, objective: AbstractObjective | None = None) -> Supervision:
    """True thoughts with the first `removed` padded, taught on the ones that are left.

    The readout is the layer of the first thought that is left, as in log-icot's stages; remove none and
    you have full chain-of-thought, remove all but the answer and no thought is left to read.
    """
    require_layout(layout)
    require_whole(removed=removed)
    require(
        0 <= removed < layout.thoughts,
        f"the answer is never removed: removed={removed} of {layout.thoughts}; use 0 to {layout.thoughts - 1}",
    )
    thoughts = np.arange(layout.thoughts)
    shown = np.concatenate([np.ones(layout.inputs, bool), thoughts >= removed])
    where = np.repeat((thoughts >= removed)[:, None], layout.slots, axis=1)
    return Supervision(TruePrefix(shown), TrueLabels(), where, objective or Squared(), layout.levels[removed])


def teacher_forcing(layout: Layout, objective: AbstractObjective | None = None) -> Supervision:
    """Every thought taught, every true thought shown, all layers read."""
    require_layout(layout)
    where = np.ones((layout.thoughts, layout.slots))
    return Supervision(TruePrefix(), TrueLabels(), where, objective or Squared())


def direct(layout: Layout, objective: AbstractObjective | None = None) -> Supervision:
    """The answer alone is taught and every thought is padded."""
    require_layout(layout)
    where = np.zeros((layout.thoughts, layout.slots))
    where[-1] = 1
    return Supervision(TruePrefix(inputs_only(layout)), TrueLabels(), where, objective or Squared(), answer=True)


def inputs_only(layout: Layout) -> np.ndarray:
    """Shown mask of a chain whose thoughts are all padded: how an internalised model is tested."""
    return np.arange(layout.positions) < layout.inputs
