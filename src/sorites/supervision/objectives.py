"""What is minimised: losses on labels, and surrogates whose gradient is a policy gradient.

Every objective is a mean over the batch of a sum over thoughts, weighted by `where`, and depends on the prediction
through its methods only.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num

from ..models import AbstractPrediction

Tokens = Num[Array, "thought slot batch"]
Where = Float[Array | np.ndarray, "thought slot"] | Float[Array | np.ndarray, "thought slot batch"]


class AbstractObjective(eqx.Module):
    @abc.abstractmethod
    def __call__(
        self, prediction: AbstractPrediction, labels: Tokens, where: Where, tokens: Tokens
    ) -> Float[Array, ""]:
        """`tokens` are the thoughts in the model's prefix: true, padded or its own."""


def weights_of(where: Where) -> Array | np.ndarray:
    """With a batch axis: chains that count less than others have weights of their own."""
    return where[..., None] if where.ndim == 2 else where


def weighted(terms: Float[Array, "thought slot batch"], where: Where) -> Float[Array, ""]:
    """Mean over the batch of the weighted sum over thoughts."""
    return jnp.sum(terms * weights_of(where)) / terms.shape[-1]


class Squared(AbstractObjective):
    """(1/2B) sum_i sum_m (mean - label)^2 (log-icot Eq. 1, kim-suzuki Sec. 3)."""

    def __call__(self, prediction, labels, where, tokens):
        return weighted(prediction.error(labels), where)


class Hinge(AbstractObjective):
    """max(0, 1 - label * mean); at a tie the slope is that of `jax.nn.relu`, zero."""

    def __call__(self, prediction, labels, where, tokens):
        return weighted(jax.nn.relu(1 - prediction.expected(labels)), where)


class Logistic(AbstractObjective):
    """log(1 + exp(-label * mean))."""

    def __call__(self, prediction, labels, where, tokens):
        return weighted(jax.nn.softplus(-prediction.expected(labels)), where)


class Exponential(AbstractObjective):
    """exp(-label * mean)."""

    def __call__(self, prediction, labels, where, tokens):
        return weighted(jnp.exp(-prediction.expected(labels)), where)


class CrossEntropy(AbstractObjective):
    """-log p(label). It is averaged over the batch first: thoughts that do not count then change no rounding."""

    def __call__(self, prediction, labels, where, tokens):
        terms = -prediction.log_prob(labels)
        if where.ndim == 3:
            return weighted(terms, where)
        return jnp.sum(terms.mean(axis=-1) * where)


class ExpectedReward(AbstractObjective):
    """Minus the mean reward given the prefix: the token is summed out (Rao-Blackwell)."""

    def __call__(self, prediction, labels, where, tokens):
        return weighted(-prediction.expected(jax.lax.stop_gradient(labels)), where)


OBJECTIVES: dict[str, AbstractObjective] = {
    "squared": Squared(),
    "hinge": Hinge(),
    "logistic": Logistic(),
    "exponential": Exponential(),
    "cross-entropy": CrossEntropy(),
}
