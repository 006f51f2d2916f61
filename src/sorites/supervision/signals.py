"""What is minimised: losses on labels, and surrogates whose gradient is a policy gradient.

Every signal is a mean over the batch of a sum over thoughts, weighted by `where`.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num

Scores = Float[Array, "thought slot class batch"]
Tokens = Num[Array, "thought slot batch"]
Where = Float[Array | np.ndarray, "thought slot"]


class AbstractSignal(eqx.Module):
    @abc.abstractmethod
    def __call__(self, scores: Scores, labels: Tokens, where: Where, tokens: Tokens) -> Float[Array, ""]:
        """`tokens` are the thoughts in the model's prefix: true, padded or its own."""


def weighted(terms: Float[Array, "thought slot batch"], where: Where) -> Float[Array, ""]:
    """Mean over the batch of the weighted sum over thoughts."""
    return jnp.sum(terms * where[..., None]) / terms.shape[-1]


class Squared(AbstractSignal):
    """(1/2B) sum_i sum_m (score - label)^2 (log-icot Eq. 1, kim-suzuki Sec. 3)."""

    def __call__(self, scores, labels, where, tokens):
        return weighted(0.5 * (scores[:, :, 0] - labels) ** 2, where)


class Hinge(AbstractSignal):
    """max(0, 1 - label * score); at a tie the slope is that of `jax.nn.relu`, zero."""

    def __call__(self, scores, labels, where, tokens):
        return weighted(jax.nn.relu(1 - labels * scores[:, :, 0]), where)


class Logistic(AbstractSignal):
    """log(1 + exp(-label * score))."""

    def __call__(self, scores, labels, where, tokens):
        return weighted(jax.nn.softplus(-labels * scores[:, :, 0]), where)


class Exponential(AbstractSignal):
    """exp(-label * score)."""

    def __call__(self, scores, labels, where, tokens):
        return weighted(jnp.exp(-labels * scores[:, :, 0]), where)


class CrossEntropy(AbstractSignal):
    """-log softmax(scores)[label]; labels are class numbers."""

    def __call__(self, scores, labels, where, tokens):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(scores, axis=2), labels[:, :, None].astype(int), axis=2)
        return weighted(-chosen[:, :, 0], where)


class ExpectedReward(AbstractSignal):
    """Minus the mean reward label * token given the prefix: the token is summed out (Rao-Blackwell)."""

    def __call__(self, scores, labels, where, tokens):
        return weighted(-jax.lax.stop_gradient(labels) * scores[:, :, 0], where)


class Reinforce(AbstractSignal):
    """REINFORCE with the reward label * token of each sampled token; the batch mean may be the baseline."""

    baseline: bool = eqx.field(static=True, default=False)

    def __call__(self, scores, labels, where, tokens):
        reward = (labels * tokens).astype(scores.dtype)
        reward = reward - jnp.mean(reward, axis=-1, keepdims=True) if self.baseline else reward
        likelihood = (1 + tokens * scores[:, :, 0]) / 2  # only of sampled tokens, so never zero
        return weighted(-jax.lax.stop_gradient(reward) * jnp.log(likelihood), where)
