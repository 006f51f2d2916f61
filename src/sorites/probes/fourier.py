"""Which function of the inputs does a model answer with? Its Fourier coefficients, on the inputs that matter."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Num

from ..errors import require
from ..supervision import AbstractPrefix, TruePrefix
from ..tasks import AbstractTask
from .base import AbstractProbe


def relied_on(task: AbstractTask, secret) -> Bool[Array, " input"]:
    """The inputs from which the answer is computed, found by following children from it."""
    layout, children = task.layout, jnp.asarray(task.children(secret))
    start = jnp.zeros(layout.positions, bool).at[layout.inputs + task.answer(secret)].set(True)

    def follow(back, reached):
        thought = layout.thoughts - 1 - back
        here = reached[layout.inputs + thought]
        at = jnp.where(children[thought] < 0, layout.positions, children[thought])  # beyond the end: dropped
        return reached.at[at].set(reached[at] | here, mode="drop")

    return jax.lax.fori_loop(0, layout.thoughts, follow, start)[: layout.inputs]


def characters(signs: Num[Array, "input batch"]) -> Num[Array, "subset batch"]:
    """Products over every subset: subset 5 = 1 + 4 has the first and the third input."""
    found = jnp.ones_like(signs[:1])
    for each in signs:
        found = jnp.concatenate([found, found * each[None]])
    return found


class Fourier(AbstractProbe):
    """`fourier`: the mean of the likeliest answer times the product of the inputs in A, for every subset A of the first
    `most` inputs that the answer depends on, empty set first, NaN where a set has inputs beyond them;
    `fourier.error`: standard errors; `fourier.mass`: the sum of squares without what sampling adds, 1 where the answer
    is a function of these inputs alone."""

    needs_supervision: ClassVar[bool] = False
    prefix: AbstractPrefix = TruePrefix()
    most: int = eqx.field(static=True, default=4)

    def __check_init__(self):
        require(1 <= self.most <= 12, f"all subsets of 1 to 12 inputs are listed: most={self.most}; use such a number")

    def __call__(self, model, task, secret, chains, supervisions):
        require(task.alphabet.signs, "Fourier coefficients are of signs: this task has classes; use a task of signs")
        prediction = self.prefix(model, chains, None, None).prediction
        answer = prediction.greedy()[task.answer(secret), 0].astype(float)
        matters = relied_on(task, secret)
        places = jnp.nonzero(matters, size=self.most, fill_value=0)[0]
        count, subsets = answer.shape[-1], jnp.arange(2**self.most)
        there = subsets < 2 ** jnp.minimum(matters.sum(), self.most)
        found = jnp.mean(characters(chains.tokens[places, 0].astype(float)) * answer[None], axis=1)
        spread = (1 - found**2) / max(count - 1, 1)
        coefficients: Float[Array, " subset"] = jnp.where(there, found, jnp.nan)
        return {
            "fourier": coefficients,
            "fourier.error": jnp.where(there, jnp.sqrt(jnp.maximum(spread, 0)), jnp.nan),
            "fourier.mass": jnp.sum(jnp.where(there, found**2 - spread, 0)),
        }
