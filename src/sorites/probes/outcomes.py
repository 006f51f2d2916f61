"""How well a model does. A metric is named by what was read: `padded.answer`, `rolled.levels`, `own.loss`."""

import functools
import operator
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import require
from ..fields import numbers
from ..models import AbstractModel
from ..models.prediction import held_out_key
from ..supervision import AbstractFilter, AbstractPrefix, FilteredPrefix, OwnPrefix, TruePrefix, inputs_only
from ..tasks import Layout
from .base import AbstractProbe, fraction

READINGS = {
    "padded": "every thought padded, all layers read: one forward pass, as an internalised chain is tested",
    "forced": "every true thought shown",
    "rolled": "its own greedy thoughts",
    "soft": "its own soft thoughts",
}


def _require_reading(reading: str) -> None:
    known = ", ".join(READINGS)
    require(reading in READINGS, f"a reading is one of {known}: reading={reading!r}; use one of these")


class Loss(AbstractProbe):
    """`own.loss`: the objective of the stage on held-out chains."""

    def __call__(self, model, task, secret, chains, supervisions):
        terms = [term(model, task, secret, chains, None) for term in supervisions]
        return {"own.loss": functools.reduce(operator.add, terms)}


class Outcome(AbstractProbe):
    """Under one way of reading: the share of right answers, the largest error of an answer, the share of chains with
    every thought right, and the share of right thoughts on each level. For a causal model that reads tokens,
    `forced.chain` equals `rolled.chain` at a fraction of the cost."""

    needs_supervision: ClassVar[bool] = False
    reading: str = eqx.field(static=True, default="padded")

    def __check_init__(self):
        _require_reading(self.reading)

    def __call__(self, model, task, secret, chains, supervisions):
        layout, name = task.layout, self.reading
        prediction = _prefix(name, model, layout)(model, chains, None, None).prediction
        truth, counted, answer = chains.tokens[layout.inputs :], task.counted(secret), task.answer(secret)
        right = jnp.all(prediction.right(truth), axis=1, keepdims=True)  # of every slot
        levels = np.asarray(layout.levels)[None, :] == np.arange(1, layout.depth + 1)[:, None]
        each = fraction(right, axis=(1, 2))
        shares = jnp.where(jnp.any(levels & (each < 1)[None], axis=1), levels @ each / levels.sum(axis=1), 1.0)
        if not isinstance(counted, np.ndarray):
            shares = jnp.where(levels @ counted.astype(shares.dtype) > 0, shares, jnp.nan)
        return {
            f"{name}.answer": fraction(right[answer, 0]),
            f"{name}.error": jnp.max(prediction.distance(truth)[answer]),
            f"{name}.chain": fraction(jnp.all(right[:, 0] | ~counted[:, None], axis=0)),
            f"{name}.levels": shares,
        }


def _prefix(name: str, model: AbstractModel, layout: Layout) -> AbstractPrefix:
    if name == "padded":
        return TruePrefix(inputs_only(layout))
    if name == "soft":
        return FilteredPrefix() if model.generates_soft else OwnPrefix("soft")
    return TruePrefix() if name == "forced" else OwnPrefix("greedy")


class Enough(AbstractProbe):
    """`forced.enough`: 1 where at least that share of the chains has every thought right, `Outcome`'s `forced.chain`,
    else 0. Reading stops after the first block that decides: for a model far from the fraction, after one block.

    Args:
        fraction: of the chains, data: members of one ensemble may differ in it.
        reading: how thoughts are read, one of `READINGS`.
        block: chains that are read at once.
    """

    needs_supervision: ClassVar[bool] = False
    fraction: Float[Array | np.ndarray, ""] = eqx.field(converter=numbers, default=1.0)  # pyright: ignore
    reading: str = eqx.field(static=True, default="forced")
    block: int = eqx.field(static=True, default=128)

    def __check_init__(self):
        _require_reading(self.reading)
        if isinstance(self.fraction, np.ndarray):  # a traced one was checked when it was given
            given = bool(((self.fraction >= 0) & (self.fraction <= 1)).all())
            require(
                given, f"got fraction={self.fraction.tolist()}; allowed are numbers from 0 to 1; use 1 for every chain"
            )
        require(self.block >= 1, f"a block holds chains: block={self.block}; use 1 or more")

    def __call__(self, model, task, secret, chains, supervisions):
        count = chains.tokens.shape[-1]
        size, prefix = min(self.block, count), _prefix(self.reading, model, task.layout)
        counted = task.counted(secret)

        def wrong(first):
            """Chains of a block; of the last one those that no earlier block had."""
            start = jnp.minimum(first, count - size)
            some = jax.tree.map(lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, start, size, -1), chains)
            right = jnp.all(prefix(model, some, None, None).prediction.right(some.tokens[task.layout.inputs :]), axis=1)
            new = start + jnp.arange(size) >= first
            return jnp.sum(~jnp.all(right | ~counted[:, None], axis=0) & new, dtype=jnp.int32)

        def enough(right):
            return jnp.where(right == count, 1.0, right / count) >= self.fraction  # as `fraction` divides

        def undecided(seen):
            read, missed = seen
            return (read < count) & enough(count - missed) & ~enough(jnp.minimum(read, count) - missed)

        none = jnp.zeros((), jnp.int32)
        _, missed = jax.lax.while_loop(undecided, lambda seen: (seen[0] + size, seen[1] + wrong(seen[0])), (none, none))
        return {f"{self.reading}.enough": jnp.asarray(enough(count - missed), jnp.float32)}


class Reward(AbstractProbe):
    """`sampled.reward`: the mean process reward of its own sampled thoughts, each judged by its own prefix."""

    needs_supervision: ClassVar[bool] = False

    def __call__(self, model, task, secret, chains, supervisions):
        tokens, prediction = model.generate_and_predict(chains, held_out_key(), "sampled")
        agreement = prediction.agreement(tokens[task.layout.inputs :], task.relabel(secret, tokens))
        return {"sampled.reward": jnp.mean(agreement)}


class Released(AbstractProbe):
    """1 for each level that the filter lets through."""

    needs_supervision: ClassVar[bool] = False
    filter: AbstractFilter

    def __call__(self, model, task, secret, chains, supervisions):
        return {"released": self.filter(model)}  # pyright: ignore[reportArgumentType]


class OnTask(AbstractProbe):
    """Other probes on a task of their own, a longer one perhaps: their names end in `@label`."""

    task: eqx.Module
    probes: tuple[AbstractProbe, ...]
    label: str = eqx.field(static=True)
    count: int = eqx.field(static=True, default=256)

    @property
    def needs_supervision(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return any(probe.needs_supervision for probe in self.probes)

    def __call__(self, model, task, secret, chains, supervisions):
        there = self.task.sample(secret, held_out_key(1), self.count)  # pyright: ignore
        found = {}
        for probe in self.probes:
            found |= probe(model, self.task, secret, there, supervisions)  # pyright: ignore
        return {f"{name}@{self.label}": value for name, value in found.items()}
