"""The one-layer transformer of kim-suzuki and rl-sft: attention by position, then a link.

    z_m = sum_j softmax_j(w_m) x_j over the mask,   prediction = phi(z_m)

It reads the thoughts before m as they stand: applied again and again to its own output it writes a chain
(`generate_soft`).
"""

import functools
import itertools
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num

from ..errors import SpecError
from ..fields import shown
from ..tasks import AbstractTask, Chain, Layout
from .base import AbstractModel, Rounds, in_chain_coordinates, masked_softmax, own_layout_only, padded_signs, zeros
from .links import AbstractLink
from .masks import MASKS, Mask
from .policies import any_link_named
from .prediction import SignMeans


class Positional(AbstractModel):
    """One weight per (thought, position); `mask` is a module-level function of the layout."""

    generates_soft: ClassVar[bool] = True

    weights: Float[Array, "thought position"]
    layout: Layout = eqx.field(static=True)
    link: AbstractLink = eqx.field(static=True)
    mask: Callable[[Layout], Mask] = eqx.field(static=True)

    def refuses(self, layout, alphabet):
        refused = own_layout_only(self, layout, alphabet)
        if refused is None and not self.mask(layout)[layout.inputs :].any(axis=1).all():
            return "a thought reads something: the mask hides every position from one of them; use another mask"
        return refused

    def predict(self, chain: Chain, depth: int | None = None, key=None) -> SignMeans:
        """One chain or a batch; one layer, so there is no depth to choose."""
        return SignMeans(self.link(self.full_attention() @ padded_signs(chain))[:, None])

    def predict_batch(self, chains: Chain, depth: int | None = None, key=None) -> SignMeans:
        return self.predict(chains)

    def predict_round(
        self, attention: Float[Array, "thought position"], tokens: Num[Array, "known batch"], first: int, last: int
    ) -> Float[Array, "here batch"]:
        """Means of some thoughts over a batch; only the positions that their mask allows are read."""
        inputs = self.layout.inputs
        read = np.flatnonzero(self.mask(self.layout)[inputs + first : inputs + last].any(axis=0))
        rows = attention[first:last, read[0] : read[-1] + 1]
        return self.link(rows @ tokens[read[0] : read[-1] + 1].astype(rows.dtype))

    def full_attention(self) -> Float[Array, "thought position"]:
        return masked_softmax(self.weights, jnp.asarray(self.mask(self.layout)[self.layout.inputs :]))

    def attention(self) -> tuple[Float[Array, "_query _source"], ...]:
        return (self.full_attention(),)

    def attend(self, chains: Chain | None = None):
        return in_chain_coordinates(self.attention(), self.layout)

    def generate_and_predict(self, chains: Chain, key, how: str, depth: int | None = None):
        """Round by round over the batch: each reads the few positions that its mask allows."""
        layout, attention = self.layout, self.full_attention()
        tokens = chains.tokens[: layout.inputs, 0]
        tokens = tokens.astype(attention.dtype) if how == "soft" else tokens
        prediction = []
        for number, (first, last) in enumerate(self.rounds(layout), start=1):
            here = SignMeans(self.predict_round(attention, tokens, first, last)[:, None])
            prediction.append(here.means)
            token = here.choose(how, jax.random.fold_in(key, number))[:, 0].astype(tokens.dtype)
            tokens = jnp.concatenate([tokens, token])
        return tokens[:, None], SignMeans(jnp.concatenate(prediction))

    def generate(self, chains: Chain, key, how: str):
        return self.generate_and_predict(chains, key, how)[0]

    def generate_soft(
        self, inputs: Float[Array, "input batch"], gates: Float[Array, " thought"] | None = None
    ) -> Float[Array, "thought batch"]:
        """The model's own soft chain over the inputs: thoughts in order, as many at once as the mask allows.

        Equal to applying `predict` to its own output until nothing changes, at the cost of one `predict` (KS-20).
        `gates` multiply the thoughts as they are written.
        """
        scores, start = self.full_attention(), self.layout.inputs
        weights = scores[:, start:] if gates is None else scores[:, start:] * gates[None]
        z = _scores_of_thoughts(self.link, self.rounds(self.layout), weights, scores[:, :start] @ inputs)
        return self.link(z) if gates is None else gates[:, None] * self.link(z)

    def rounds(self, layout: Layout) -> Rounds:
        """Ranges of thoughts that do not read each other: levels under a level mask, single ones under a causal one."""
        inner = np.asarray(self.mask(layout))[layout.inputs :, layout.inputs :]
        bounds = [0]
        for thought in range(len(inner)):
            if inner[thought, bounds[-1] : thought].any():
                bounds.append(thought)
        return tuple(itertools.pairwise([*bounds, len(inner)]))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _scores_of_thoughts(
    link: AbstractLink,
    rounds: Rounds,
    weights: Float[Array, "thought thought"],
    means: Float[Array, "thought batch"],
) -> Float[Array, "thought batch"]:
    """The z with z_m = means_m + sum_j weights_mj phi(z_j), round by round."""

    def step(first, width, state):
        z, values = state
        here = _rows(means, first, width) + _rows(weights, first, width) @ values
        return _put(z, here, first), _put(values, link(here), first)

    return _each(rounds, step, (jnp.zeros_like(means), jnp.zeros_like(means)))[0]


@_scores_of_thoughts.defjvp
def _tangent(link, rounds, primals, tangents):
    """dz = source + weights (phi'(z) dz): a triangular system, solved by the same rounds."""
    (weights, means), (d_weights, d_means) = primals, tangents
    z = _scores_of_thoughts(link, rounds, weights, means)
    values, slopes = jax.jvp(link, (z,), (jnp.ones_like(z),))

    def forward(_, source):
        def step(first, width, state):
            found, moved = state
            here = _rows(source, first, width) + _rows(weights, first, width) @ moved
            return _put(found, here, first), _put(moved, _rows(slopes, first, width) * here, first)

        return _each(rounds, step, (jnp.zeros_like(source), jnp.zeros_like(source)))[0]

    def backward(_, source):
        def step(first, width, found):
            here = _rows(weights.T, first, width) @ found
            return _put(found, _rows(source, first, width) + _rows(slopes, first, width) * here, first)

        return _each(rounds[::-1], step, jnp.zeros_like(source))

    return z, jax.lax.custom_linear_solve(
        lambda z: z - weights @ (slopes * z), d_means + d_weights @ values, forward, backward
    )


def _each(rounds: Rounds, step, state):
    """The rounds one after another; single thoughts make a compiled loop, which keeps the program short."""
    if len(rounds) > 2 and all(last - first == 1 for first, last in rounds):
        start, way = rounds[0][0], 1 if rounds[0] < rounds[1] else -1
        return jax.lax.fori_loop(0, len(rounds), lambda i, state: step(start + way * i, 1, state), state)
    for first, last in rounds:
        state = step(first, last - first, state)
    return state


def _rows(matrix, first, width):
    return jax.lax.dynamic_slice_in_dim(matrix, first, width)


def _put(matrix, rows, first):
    return jax.lax.dynamic_update_slice_in_dim(matrix, rows, first, axis=0)


def positional(
    task: AbstractTask,
    link: str | AbstractLink = "cosine",
    mask: str | Callable[[Layout], Mask] = "lower-levels",
) -> Positional:
    """Zero weights: uniform attention over the mask."""
    if isinstance(mask, str) and mask not in MASKS:
        raise SpecError(f"a mask is one of {', '.join(MASKS)}: mask={mask!r}; use one of these or a function")
    if not isinstance(mask, str) and not callable(mask):
        raise SpecError(
            f"got mask={shown(mask)}; allowed is a name or a function of the layout; use one of {', '.join(MASKS)}"
        )
    allowed = MASKS[mask] if isinstance(mask, str) else mask
    weights = zeros((task.layout.thoughts, task.layout.positions))
    return Positional(weights=weights, layout=task.layout, link=any_link_named(link), mask=allowed)
