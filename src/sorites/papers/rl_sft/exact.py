"""Exact gradients, sign steps and greedy chains over every input: what the identities are checked with."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...errors import require
from ...models import Positional, policy_for
from ...models.positional import positional
from ...supervision import OwnPrefix, Supervision, assignments, expected_reward
from ...tasks import Boolean, Chain


def pretrained(task: Boolean) -> Positional:
    """The paper's transformer at equal weights: the tree's or the serial chain's mask, and the gate's psi."""
    mask = "previous-level" if task.decomposition == "tree" else "inputs-and-previous"
    return positional(task, policy_for(task.gate.name), mask)


def scattered(task: Boolean, seed: int = 0, scale: float = 1.0) -> Positional:
    """Gaussian weights: identities must hold at any."""
    model = pretrained(task)
    weights = scale * np.random.default_rng(seed).normal(size=model.weights.shape)
    return with_weights(model, jnp.asarray(weights, model.weights.dtype))


def with_weights(model: Positional, weights) -> Positional:
    return eqx.tree_at(lambda m: m.weights, model, jnp.asarray(weights))


def secret_of(task: Boolean):
    """The secret that the exact checks use; by symmetry any would do."""
    return task.draw(jax.random.key(0))


def reward_gradient(
    model: Positional, task: Boolean, secret, labels: str = "prefix", discount: float = 0.0, where=None
) -> Float[Array, "thought position"]:
    """Ascent direction of the expected process reward, exactly."""
    where = np.full(task.layout.thoughts, 1 / task.layout.thoughts) if where is None else where
    return _reward_gradient(model, task, secret, labels, jnp.asarray(discount), jnp.asarray(where))


@eqx.filter_jit
def _reward_gradient(model: Positional, task: Boolean, secret, labels: str, discount: Array, where: Array) -> Array:
    def reward(model):
        return expected_reward(model, task, secret, where, labels, discount)

    return eqx.filter_grad(reward)(model).weights


@eqx.filter_jit
def loss_gradient(
    model: Positional, task: Boolean, secret, taught: Supervision
) -> tuple[Float[Array, "thought position"], Float[Array, "thought position"]]:
    """Descent direction of a loss over every input, divided by k - 1, and the largest that any one input has."""
    require(task.bits <= 14, f"a gradient per input is for at most 14 bits: bits={task.bits}; use fewer")
    chains, count = task.enumerate(secret), task.layout.thoughts

    def loss(weights, chain: Chain):
        one = jax.tree.map(lambda leaf: leaf[..., None], chain)
        return taught(with_weights(model, weights), task, secret, one, jax.random.key(0)) / count

    each = jax.vmap(jax.grad(loss), in_axes=(None, -1))(model.weights, chains)
    return -each.mean(axis=0), jnp.abs(each).max(axis=0)


@eqx.filter_jit
def level_accuracy(model: Positional, task: Boolean, secret) -> Float[Array, " level"]:
    """Share of right tokens on each level when the chain is written greedily, over every input."""
    chains = task.enumerate(secret)
    own = OwnPrefix("greedy")(model, chains, jax.random.key(0), None).tokens
    right = jnp.mean(own[task.bits :, 0] == chains.tokens[task.bits :, 0], axis=1)
    levels = np.asarray(task.layout.levels)
    return jnp.stack([right[levels == level].mean() for level in range(1, task.layout.depth + 1)])


def signs(gradient, tolerance: float = 1e-9) -> np.ndarray:
    """The sign of each entry; what is rounding beside the largest entry is 0."""
    gradient = np.asarray(gradient)
    return np.where(np.abs(gradient) <= tolerance * np.abs(gradient).max(initial=0), 0, np.sign(gradient))


def stepped(model: Positional, direction, rate: float) -> Positional:
    """One sign step along a direction."""
    return with_weights(model, np.asarray(model.weights) + rate * signs(direction))


def pulls(task: Boolean, secret, gradient) -> list[tuple[np.ndarray, np.ndarray]]:
    """By level: the entries on children and those on the other positions that the mask allows."""
    layout, found = task.layout, []
    mask = pretrained(task).mask(layout)[layout.inputs :]
    child = np.zeros_like(mask)
    np.put_along_axis(child, np.asarray(task.children(secret)), True, axis=1)
    levels = np.asarray(layout.levels)[:, None]
    for level in range(1, layout.depth + 1):
        here = (levels == level) & mask
        found.append((np.asarray(gradient)[here & child], np.asarray(gradient)[here & ~child]))
    return found


def optimal(task: Boolean, secret) -> np.ndarray:
    """softmax(W*): one half on each child."""
    goal = np.zeros((task.layout.thoughts, task.layout.positions))
    np.put_along_axis(goal, np.asarray(task.children(secret)), 0.5, axis=1)
    return goal


def column_errors(model: Positional, task: Boolean, secret) -> np.ndarray:
    """|softmax(W) - softmax(W*)|_1 of every thought's column."""
    return np.abs(np.asarray(model.full_attention()) - optimal(task, secret)).sum(axis=1)


def keys_by_level(task: Boolean) -> list[int]:
    """D: how many positions a thought of each level reads."""
    layout = task.layout
    rows = pretrained(task).mask(layout)[layout.inputs :].sum(axis=1)
    return [int(rows[layout.levels.index(level)]) for level in range(1, layout.depth + 1)]


def every_trajectory(task: Boolean, secret) -> Chain:
    """Every input with every sequence of thoughts."""
    require(
        task.bits + task.layout.thoughts <= 16,
        f"every trajectory is for at most 16 bits and thoughts: {task.bits} + {task.layout.thoughts}; use fewer",
    )
    inputs, thoughts = assignments(task.bits), assignments(task.layout.thoughts)
    tokens = np.concatenate([np.repeat(inputs, thoughts.shape[1], axis=1), np.tile(thoughts, inputs.shape[1])])
    return Chain(jnp.asarray(tokens[:, None]), task.layout)
