"""App. G for any number of steps: by the symmetry of the tree a column of attention has few distinct weights, and idle bits
enter through their sum alone, so 2^k (d-k+1) weighted inputs stand for all 2^d."""

import dataclasses
import functools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...errors import require
from ...models import Positional
from ...supervision import assignments, expected_reward
from ...tasks import Boolean
from ...training import Lab
from ...training.flow import Flow, gradient_flow
from .exact import pretrained, with_weights
from .setting import require_levels


@dataclasses.dataclass(frozen=True)
class Symmetric:
    """The tree of `sparsity` secret bits among `bits`, rewarded up to level `steps`, with true labels."""

    bits: int = 16
    sparsity: int = 8
    steps: int = 3

    def task(self) -> Boolean:
        return Boolean(self.bits, self.sparsity, "parity", "tree", tuple(range(self.sparsity)))  # pyright: ignore

    @functools.cached_property
    def classes(self) -> np.ndarray:
        """Which weight stands at each (thought, position): by level, and by the level at which the two subtrees meet.
        -1: masked."""
        task = self.task()
        layout = task.layout
        ancestors: list[set[int]] = [{index} for index in range(layout.positions)]
        children = np.asarray(task.children(task.draw(jax.random.key(0))))
        for thought in reversed(range(layout.thoughts)):
            for child in children[thought]:
                ancestors[child] |= ancestors[layout.inputs + thought]
        mask, found, names = pretrained(task).mask(layout), np.full((layout.thoughts, layout.positions), -1), {}
        for thought, source in np.argwhere(mask[layout.inputs :]):
            shared = ancestors[layout.inputs + thought] & ancestors[source]
            meeting = min((layout.position_levels[index] for index in shared), default=0)  # 0: an idle bit
            name = (layout.levels[thought], meeting if meeting else 99)
            found[thought, source] = names.setdefault(name, len(names))
        return found

    @functools.cached_property
    def child_class(self) -> list[int]:
        """The class of the children, by level."""
        task = self.task()
        children = np.asarray(task.children(task.draw(jax.random.key(0))))
        rows = [task.layout.levels.index(level) for level in range(1, task.layout.depth + 1)]
        return [int(self.classes[row, children[row, 0]]) for row in rows]

    def weighted_inputs(self) -> tuple[np.ndarray, np.ndarray]:
        """One input per value of the secret bits and count of idle ones, and their chances."""
        idle = self.bits - self.sparsity
        counts = np.arange(idle + 1)
        tails = 1 - 2 * (np.arange(idle)[:, None] >= counts[None, :])  # the first `count` idle bits are +1
        secret = assignments(self.sparsity)
        inputs = np.concatenate([np.repeat(secret, idle + 1, axis=1), np.tile(tails, 2**self.sparsity)])
        ways = np.array([math.comb(idle, int(count)) for count in counts]) / 2.0**self.bits
        return inputs, np.tile(ways, 2**self.sparsity)

    def spread(self, weights: Float[Array, " class"]) -> Positional:
        """The whole model with each class at its weight."""
        table = jnp.concatenate([weights, jnp.zeros(1, weights.dtype)])
        return with_weights(pretrained(self.task()), table[self.classes])

    def start(self) -> np.ndarray:
        return np.zeros(self.classes.max() + 1)

    def field(self):
        """dw/dt: the gradient of the expected reward per weight of each class."""
        task, (inputs, chances) = self.task(), self.weighted_inputs()
        levels = np.asarray(task.layout.levels)
        where = (levels <= self.steps) / task.layout.thoughts
        many = np.bincount(self.classes[self.classes >= 0], minlength=self.classes.max() + 1)
        secret = task.draw(jax.random.key(0))

        def reward(weights):
            return expected_reward(self.spread(weights), task, secret, where, "truth", 1.0, inputs, chances)

        return lambda weights: jax.grad(reward)(weights) / many

    def shares(self, states: Float[np.ndarray, "time class"]) -> Float[np.ndarray, "time level"]:
        """Attention on one child, by level, along a trajectory."""
        found = []
        for child in self.child_class:
            row = self.classes[np.flatnonzero((self.classes == child).any(axis=1))[0]]
            kinds, many = np.unique(row[row >= 0], return_counts=True)
            exponents = states[:, kinds] - states[:, [child]]
            found.append(1 / (np.exp(exponents) * many).sum(axis=1))
        return np.stack(found, axis=1)

    def flow(self, until: float, points: int, lab: Lab) -> Flow:
        return lab.keep((self, until, points), _flow, like=Flow(0, 0, 0))  # pyright: ignore[reportArgumentType]


def _flow(spec: tuple[Symmetric, float, int]) -> Flow:
    symmetric, until, points = spec
    return gradient_flow(eqx.filter_jit(symmetric.field()), symmetric.start(), np.linspace(0, until, points))


def require_flow(sparsity: int, share: float) -> None:
    """Two levels with keys besides the children, and a share that both reach and neither starts with."""
    require_levels(sparsity, 3)
    require(
        2 / sparsity < share < 0.5,
        f"a share to reach lies between level 2's start and its end, {2 / sparsity:g} and 0.5: share={share}; use one in between",
    )


def reached(times: np.ndarray, share: np.ndarray, level: float = 0.4) -> float:
    """When a share first passes a level, between two stored times; NaN if it does not."""
    above = np.flatnonzero(share >= level)
    if not len(above) or above[0] == 0:
        return math.nan if not len(above) else float(times[0])
    after = above[0]
    before = after - 1
    part = (level - share[before]) / (share[after] - share[before])
    return float(times[before] + part * (times[after] - times[before]))
