"""What the feed-forward network of LEGO's theory learns about the value slot, and only that.

With the variable slots frozen, the logits of slot 5 depend on W through V_{j,r}(g) = <W_{5,j,r,2}, e_g> and
V_{j,r}(y) = <W_{5,j,r,5}, e_y>; classes that are no values keep a constant logit.
Exact: see tests/models/test_clause.py.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from ..tasks.actions import Action
from ..tasks.lego import SLOTS, Vocabulary
from .clause import Clause
from .srelu import SReLU


class Features(eqx.Module):
    """V_{j,r} on actions and on values; class j is a value."""

    actions: Float[Array, "value neuron action"]
    values: Float[Array, "value neuron source"]
    bias: Float[Array, ""]  # mu
    ceiling: Float[Array, ""]  # B
    others: Float[Array, ""]  # number of classes that are no values, d - n_Y; their neurons see only the bias
    activation: SReLU = eqx.field(static=True)

    def logits(self, mixed: Float[Array, "class neuron *batch"]) -> Float[Array, "class *batch"]:
        """From attention-weighted features without the bias; the batch comes last, so that rows are long."""
        return jnp.minimum(self.activation(mixed + self.bias).sum(axis=1), self.ceiling)

    def loss(self, mixed: Float[Array, "class neuron *batch"], target: Int[Array, "*batch"]) -> Float[Array, "*batch"]:
        """-log p of the target value among all d classes, as log(1 + odds against it): exact far below 1."""
        logits = self.logits(mixed)
        right = target[None] == jnp.arange(len(logits)).reshape(-1, *(1,) * target.ndim)
        own = jnp.where(right, logits, 0).sum(axis=0, keepdims=True)
        rivals = jnp.where(right, -jnp.inf, logits - own)
        idle = self.logits(jnp.zeros(self.actions.shape[:2], mixed.dtype))[0] - own[0]  # other classes
        return jnp.log1p(jnp.exp(rivals).sum(axis=0) + self.others * jnp.exp(idle))

    def pairs(self) -> Float[Array, "value neuron source action"]:
        """V_psi = (V(g) + V(y)) / 2: the preactivation of one-step reasoning under uniform attention."""
        return (self.actions[..., None, :] + self.values[..., :, None]) / 2


def one_step_loss(features: Features, table: Int[Array, "action value"]) -> Float[Array, ""]:
    """Loss^1 of the value token, all |G||Y| inputs enumerated, attention 1/2 and 1/2."""
    return features.loss(features.pairs(), table.T).mean()


def drawn(
    action: Action, size: int, neurons: int, spread: float, clipping: float, activation: SReLU, key: Key[Array, ""]
) -> Features:
    """At initialisation, for a vocabulary of `size` tokens."""
    moves, states = jax.random.split(key)
    shape, log = (action.values, neurons), jnp.log(jnp.asarray(float(size)))
    return Features(
        spread * jax.random.normal(moves, (*shape, action.actions)),
        spread * jax.random.normal(states, (*shape, action.values)),
        spread * log,
        clipping * log,
        jnp.asarray(float(size - action.values)),
        activation,
    )


def imbalance(action: Action) -> float:
    """C_alpha = V(g)/V(y) at convergence (Thm C.1 C): 1 for simply transitive actions, about n_Y for S_n."""
    moves, states = action.actions, action.values
    return (1 + moves * (states - 1) / states) / ((states - 1) + moves / states)


def ideal(action: Action, size: int, clipping: float, activation: SReLU) -> Features:
    """One neuron per (class j, value y): V(g) = a if g(y) = j else -b, V(y) = b, V(y') = -a, a + b = 2B."""
    ceiling, ratio, states = clipping * np.log(size), imbalance(action), action.values
    large, small = 2 * ceiling * ratio / (1 + ratio), 2 * ceiling / (1 + ratio)
    reaches = action.table.T[None] == np.arange(states)[:, None, None]  # [class j, neuron y, action]
    own = np.broadcast_to(np.eye(states, dtype=bool), (states, states, states))
    return Features(
        jnp.asarray(np.where(reaches, large, -small)),
        jnp.asarray(np.where(own, small, -large)),
        jnp.zeros(()),
        jnp.asarray(ceiling),
        jnp.asarray(float(size - states)),
        activation,
    )


def literal(features: Features, vocabulary: Vocabulary) -> Clause:
    """The whole transformer whose value slot has these features and whose other weights are zero; Q = 0."""
    size, count = vocabulary.size, features.actions.shape[1]
    neurons = jnp.zeros((SLOTS, size, count, SLOTS, size), features.actions.dtype)
    moves = slice(vocabulary.first_action, vocabulary.first_value)
    states = slice(vocabulary.first_value, vocabulary.blank)
    neurons = neurons.at[4, states, :, 1, moves].set(features.actions)
    neurons = neurons.at[4, states, :, 4, states].set(features.values)
    scores = jnp.zeros((SLOTS, size, SLOTS, size), neurons.dtype)
    return Clause(neurons, scores, features.bias, features.ceiling, vocabulary, features.activation)
