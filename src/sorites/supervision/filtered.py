"""The model's own soft chain, differentiated end to end, with the self-consistency filters of kim-suzuki.

A filter zeroes the thoughts of a level while the level below is uninformative; it is a constant for the gradient.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..errors import SpecError, require
from ..fields import numbers
from ..models import Positional, SignMeans
from .prefix import AbstractPrefix, PrefixOutput


class AbstractFilter(eqx.Module):
    """Which levels of the chain pass, given the model."""

    @abc.abstractmethod
    def __call__(self, model: Positional) -> Float[Array, " level"]:
        """1 where level 1, 2, ... passes, 0 where it is zeroed."""


def _signs(value) -> Array | np.ndarray:
    return value if isinstance(value, jax.Array) else np.asarray(value, np.int8)


class Strings(AbstractFilter):
    """iota_l of Sec. 3.3: level l is zeroed if ||u_j + 1|| < threshold for some j of the level below, where u_j are the
    thoughts that the model writes on unlabelled strings, filtered likewise. Inputs are never uninformative."""

    strings: Int[Array | np.ndarray, "input string"] = eqx.field(converter=_signs)  # u^1, ..., u^n'
    threshold: Float[Array | np.ndarray, ""] = eqx.field(converter=numbers)  # eps0
    used: Bool[Array | np.ndarray, " string"]  # strings beyond the first n' are there for the shape alone

    def __init__(self, strings, threshold, used: int | None = None):
        self.strings, self.threshold = strings, threshold
        count = strings.shape[1]
        used = count if used is None else used
        require(0 < used <= count, f"a filter looks at strings: used={used} of {count}; use 1 or more")
        self.used = np.arange(count) < used

    def __call__(self, model):
        layout, passes = model.layout, [jnp.ones(())]
        values = jnp.asarray(self.strings, model.weights.dtype)
        scores = model.full_attention()
        for level in range(1, layout.depth + 1):
            first, last = (end - layout.inputs for end in layout.ends[level - 1 : level + 1])
            if level > 1:  # level 1 stands on inputs
                distance = jnp.max(jnp.abs(values[layout.ends[level - 2] :] + 1), axis=1, where=self.used, initial=0)
                passes.append(jnp.all(distance >= self.threshold).astype(values.dtype))
            fresh = passes[-1] * model.link(scores[first:last, : len(values)] @ values)
            values = jnp.concatenate([values, fresh])
        return jnp.stack(passes)


class Scores(AbstractFilter):
    """The filter of the published experiments: a level passes if a softmax score of the level below exceeds `least`."""

    least: Float[Array | np.ndarray, ""] = eqx.field(converter=numbers, default=0.4)  # pyright: ignore

    def __call__(self, model):
        layout, scores = model.layout, model.full_attention()
        ends = [end - layout.inputs for end in layout.ends]
        largest = [jnp.max(scores[ends[level - 1] : ends[level]]) for level in range(1, layout.depth)]
        return jnp.stack([jnp.ones(()), *((each > self.least).astype(scores.dtype) for each in largest)])


class FilteredPrefix(AbstractPrefix):
    """The model's own soft thoughts; filtered, if a filter is given. For models with `generate_soft`."""

    filter: AbstractFilter | None = None

    def __call__(self, model, chains, key, depth):
        if not isinstance(model, Positional):
            raise SpecError(f"a written chain needs a model that writes: {type(model).__name__}; use `positional`")
        layout = model.layout
        inputs = chains.tokens[: layout.inputs, 0].astype(model.weights.dtype)
        gates = None
        if self.filter is not None:
            require(
                len(model.rounds(layout)) == layout.depth,
                "a filter works level by level: this mask lets thoughts of a level read each other; "
                "use mask='lower-levels'",
            )
            passes = jax.lax.stop_gradient(self.filter(model))
            gates = passes[np.asarray(layout.levels) - 1]
        thoughts = model.generate_soft(inputs, gates)
        return PrefixOutput(jnp.concatenate([inputs, thoughts])[:, None], SignMeans(thoughts[:, None]))
