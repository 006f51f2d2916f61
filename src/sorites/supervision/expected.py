"""The expected reward of a sampled chain, exactly: every input, and every state of the level that is read next.

The thoughts of a level depend on the level before (and, in a serial chain, on the inputs), so the distribution of
that level is all that generation needs to remember: 2^(its size) states for each input.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..errors import require
from ..fields import numbers
from ..models import Positional
from ..tasks import Boolean
from .sources import AbstractSource

LARGEST = 2**27  # states times inputs held at once


def assignments(count: int) -> Int[np.ndarray, "token state"]:
    """All signs of `count` tokens; the first token varies fastest, +1 before -1."""
    require(count <= 20, f"listing signs is for at most 20 tokens: {count}; use fewer bits, or sample")
    codes = np.arange(2**count)
    return 1 - 2 * ((codes[None] >> np.arange(count)[:, None]) & 1)


class LevelMeans(eqx.Module):
    """One level as the model meets it: the mean of each thought, and how likely each state before it is."""

    means: Float[Array, "thought _input _state"]  # an axis of one where the level does not depend on it
    states: Int[Array | np.ndarray, "token _state"]  # the level before
    probability: Float[Array, "input state"]  # of that state, given the input


def walk(
    model: Positional, inputs: Int[Array | np.ndarray, "bit input"], discount: float | Array = 1.0
) -> tuple[list[LevelMeans], Float[Array, "input state"]]:
    """Every level, and the distribution of the last one. Gradients reach the distribution of the level before scaled by
    `discount`: a reward t levels later is seen through discount^t (0: Eq. 6, 1: Lemma D.1)."""
    layout, attention, mask = model.layout, model.full_attention(), model.mask(model.layout)
    probability = jnp.ones((inputs.shape[1], 1), attention.dtype)
    states, found = np.zeros((0, 1), int), []
    for level in range(1, layout.depth + 1):
        before, start, end = (layout.ends[max(level - 2, 0)], layout.ends[level - 1], layout.ends[level])
        before = start if level == 1 else before
        require(inputs.shape[1] * 2 ** (end - start) <= LARGEST, _too_large(layout.inputs, end - start))
        rows = attention[start - layout.inputs : end - layout.inputs]
        reached = jnp.zeros((end - start, 1, states.shape[1]), rows.dtype)
        if len(states):
            reached += (rows[:, before:start] @ states.astype(rows.dtype))[:, None]
        if mask[start:end, : layout.inputs].any():
            reached = reached + (rows[:, : layout.inputs] @ inputs.astype(rows.dtype))[:, :, None]
        means = model.link(reached)
        probability = discount * probability + (1 - discount) * jax.lax.stop_gradient(probability)
        found.append(LevelMeans(means, states, probability))
        joint = _joint(means)
        probability = probability @ joint[0] if len(joint) == 1 else jnp.einsum("is,isn->in", probability, joint)
        states = assignments(end - start)
    return found, probability


def _too_large(bits: int, size: int) -> str:
    return f"exact rewards hold 2^(bits + first level) numbers, at most 2^27: bits={bits}, level={size}; sample instead"


def _joint(means: Float[Array, "thought _input _state"]) -> Float[Array, "_input _state next"]:
    """The chance of every next state: tokens of a level are independent given the state before."""
    joint = jnp.ones((*means.shape[1:], 1), means.dtype)
    for mean in means:  # the last token varies slowest
        plus = (1 + mean[..., None]) / 2
        joint = jnp.concatenate([joint * plus, joint * (1 - plus)], axis=-1)
    return joint


def labels_of(
    kind: str, task: Boolean, secret, inputs: Int[Array | np.ndarray, "bit input"], level: int, states
) -> Int[Array, "thought _input _state"]:
    """The label of each thought of a level: from the truth, or the gate on the prefix as it stands."""
    layout = task.layout
    start, end = layout.ends[level - 1] - layout.inputs, layout.ends[level] - layout.inputs
    if kind == "truth":
        thoughts = task.think(secret, jnp.asarray(inputs)).tokens[layout.inputs :, 0]
        return thoughts[start:end, :, None]
    before = layout.ends[level - 2] if level > 1 else layout.inputs
    children, states = task.children(secret)[start:end], jnp.asarray(states)

    def value(child):  # thought x input x state
        given = jnp.asarray(inputs)[jnp.minimum(child, layout.inputs - 1)][:, :, None]
        if not len(states):
            return given
        own = states[jnp.clip(child - before, 0, len(states) - 1)][:, None, :]
        if task.decomposition == "tree":
            return own
        return jnp.where((child < layout.inputs)[:, None, None], given, own)

    return task.gate(value(children[:, 0]), value(children[:, 1]))


def expected_reward(
    model: Positional,
    task: Boolean,
    secret,
    where: Float[Array | np.ndarray, " thought"],
    labels: str = "prefix",
    discount: float | Array = 1.0,
    inputs: Int[Array | np.ndarray, "bit input"] | None = None,
    weights: Float[Array | np.ndarray, " input"] | None = None,
) -> Float[Array, ""]:
    """E_x E_y sum_j where_j y_j label_j; every input counts the same unless `inputs` and their `weights` are given."""
    require(labels in ("prefix", "truth"), f"labels come from the prefix or the truth: labels={labels!r}; use one")
    if inputs is None:
        require(task.bits <= 20, f"exact rewards list every input, at most 20 bits: bits={task.bits}; sample instead")
        inputs = assignments(task.bits)
    levels, _ = walk(model, inputs, discount)
    total, layout = jnp.zeros(inputs.shape[1]), task.layout
    for number, here in enumerate(levels, start=1):
        label = labels_of(labels, task, secret, inputs, number, here.states)
        rows = jnp.asarray(where)[layout.ends[number - 1] - layout.inputs : layout.ends[number] - layout.inputs]
        gain = jnp.einsum("t,tis->is", rows, here.means * label)
        total += jnp.sum(here.probability * gain, axis=1)
    return jnp.mean(total) if weights is None else total @ jnp.asarray(weights)


def answer_means(model: Positional, inputs: Int[Array | np.ndarray, "bit input"]) -> Float[Array, " input"]:
    """E[y^(T) | x] for each input."""
    _, probability = walk(model, inputs)
    return probability[:, 0] - probability[:, 1]


class ExactReward(AbstractSource):
    """The policy gradient without sampling: all inputs, all states. The objective is the expected reward itself."""

    bits: int = eqx.field(static=True)
    where: Float[Array | np.ndarray, " thought"]  # of each token's reward
    labels: str = eqx.field(static=True, default="prefix")
    discount: Float[Array | np.ndarray, ""] = eqx.field(converter=numbers, default=0.0)  # pyright: ignore

    @property
    def samples(self) -> int:
        return 2**self.bits

    def gradient(self, loss_function, model, task, draw):
        require(
            isinstance(task, Boolean) and task.decomposition in ("tree", "serial") and isinstance(model, Positional),
            f"exact rewards are for trees and serial chains on `positional`: task={type(task).__name__}; use Sampled",
        )
        assert isinstance(task, Boolean)

        def loss(model):
            return -expected_reward(model, task, draw.secret, self.where, self.labels, jnp.asarray(self.discount))

        return eqx.filter_value_and_grad(loss)(model)
