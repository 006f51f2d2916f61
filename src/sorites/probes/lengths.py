"""How far a chain reaches: LEGO sentences of another length, written from their predicates and first answer."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ..tasks import Lego
from .base import AbstractProbe, fraction


class LengthCurve(AbstractProbe):
    """At the length of its own task, greedy and free-running, over held-out sentences: the share with every value right
    and with every clause right, attention on the predicate to be used and on the query itself by step, and the share of
    values right given that all before were. Names end in `@length`."""

    needs_supervision: ClassVar[bool] = False
    task: Lego
    count: int = eqx.field(static=True, default=200)

    def __call__(self, model, task, secret, chains, supervisions):
        asked, length = self.task, self.task.length
        truth = asked.numbered(secret, jnp.arange(self.count, dtype=jnp.uint32), held_out=True)
        tokens = model.generate(truth, jax.random.key(0), "greedy")
        right = (tokens == truth.tokens)[length + 1 :]  # step slot batch
        good = fraction(jnp.cumprod(right[:, 4], axis=0) > 0, axis=1)
        rows = model.attend(truth.with_tokens(tokens))[0].mean(axis=(0, 3))  # step position
        step = jnp.arange(length)
        found = {
            "values": fraction(jnp.all(right[:, 4], axis=0)),
            "clauses": fraction(jnp.all(right, axis=(0, 1))),
            "predicate": rows[step, step],
            "query": rows[step, length + step],
            "rates": good / jnp.maximum(jnp.concatenate([jnp.ones(1), good[:-1]]), 1e-9),
        }
        return {f"{name}@{length}": value for name, value in found.items()}
