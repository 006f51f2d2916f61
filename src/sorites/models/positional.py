"""The one-layer transformer of kim-suzuki and rl-sft: attention by position, then a link.

    z_m = sum_j softmax_j(w_m) x_j over the mask,   prediction = phi(z_m)

It reads the thoughts before m as they stand: applied again and again to its own output it writes a chain (`write`).
"""

import functools
import itertools
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import SpecError
from ..tasks import AbstractTask, Chain, Layout
from .base import AbstractModel, Prediction, masked_softmax, padded_signs
from .links import AbstractLink, link_named
from .masks import MASKS, Mask


class Positional(AbstractModel):
    """One weight per (thought, position); `mask` is a module-level function of the layout."""

    weights: Float[Array, "thought position"]
    layout: Layout = eqx.field(static=True)
    link: AbstractLink = eqx.field(static=True)
    mask: Callable[[Layout], Mask] = eqx.field(static=True)

    def embed(self, chain: Chain) -> Float[Array, " position"]:
        return padded_signs(chain)

    def read(self, feed: Float[Array, " position"], depth: int | None = None) -> Prediction:
        scores = self.full_attention()
        return Prediction(self.link(scores @ feed)[:, None, None], (scores,))

    def full_attention(self) -> Float[Array, "thought position"]:
        return masked_softmax(self.weights, jnp.asarray(self.mask(self.layout)[self.layout.inputs :]))

    def attention(self) -> tuple[Float[Array, "_query _source"], ...]:
        return (self.full_attention(),)

    def write(
        self, inputs: Float[Array, "input batch"], gates: Float[Array, " thought"] | None = None
    ) -> Float[Array, "thought batch"]:
        """The model's own soft chain over the inputs: thoughts in order, as many at once as the mask allows.

        Equal to applying `read` to its own output until nothing changes, at the price of one `read` (KS-20).
        `gates` multiply the thoughts as they are written.
        """
        scores, start = self.full_attention(), self.layout.inputs
        gates = jnp.ones(len(scores), scores.dtype) if gates is None else gates
        return _written(self.link, tuple(self.rounds()), scores[:, start:], scores[:, :start] @ inputs, gates)

    def rounds(self) -> list[tuple[int, int]]:
        """Ranges of thoughts that do not read each other: levels under a level mask, single thoughts under a causal one."""
        inner = np.asarray(self.mask(self.layout))[self.layout.inputs :, self.layout.inputs :]
        bounds = [0]
        for thought in range(len(inner)):
            if inner[thought, bounds[-1] : thought].any():
                bounds.append(thought)
        return list(itertools.pairwise([*bounds, len(inner)]))


Rounds = tuple[tuple[int, int], ...]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _written(
    link: AbstractLink,
    rounds: Rounds,
    scores: Float[Array, "thought thought"],
    means: Float[Array, "thought batch"],
    gates: Float[Array, " thought"],
) -> Float[Array, "thought batch"]:
    """The thoughts t with t_m = gate_m phi(means_m + sum_j scores_mj t_j), round by round."""
    return _forward(link, rounds, scores, means, gates)[0]


def _forward(link, rounds, scores, means, gates):
    thoughts, slopes = jnp.zeros_like(means), jnp.zeros_like(means)
    for first, last in rounds:
        z = means[first:last] + scores[first:last] @ thoughts
        value, slope = jax.jvp(link, (z,), (jnp.ones_like(z),))
        gate = gates[first:last, None]
        thoughts, slopes = thoughts.at[first:last].set(gate * value), slopes.at[first:last].set(gate * slope)
    return thoughts, (scores, gates, thoughts, slopes)


def _backward(link, rounds, kept, wanted):
    """Errors travel back through the same rounds; the scores then take one product over the batch."""
    scores, gates, thoughts, slopes = kept
    errors = jnp.zeros_like(wanted)  # of z
    for first, last in reversed(rounds):
        total = wanted[first:last] + scores[:, first:last].T @ errors
        errors = errors.at[first:last].set(slopes[first:last] * total)
    return errors @ thoughts.T, errors, jnp.zeros_like(gates)  # a gate is a constant


_written.defvjp(_forward, _backward)


def positional(
    task: AbstractTask,
    link: str | AbstractLink = "cosine",
    mask: str | Callable[[Layout], Mask] = "lower-levels",
) -> Positional:
    """Zero weights: uniform attention over the mask."""
    if isinstance(mask, str) and mask not in MASKS:
        raise SpecError(f"a mask is one of {', '.join(MASKS)}: mask={mask!r}; use one of these or a function")
    rule = MASKS[mask] if isinstance(mask, str) else mask
    weights = jnp.zeros((task.layout.thoughts, task.layout.positions))
    return Positional(weights=weights, layout=task.layout, link=link_named(link), mask=rule)
