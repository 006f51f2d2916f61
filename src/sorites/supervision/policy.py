"""Policy gradients from sampled chains, with every choice that practice makes: credit, baseline, groups; and the two
ways of teaching that rl-sft compares."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import SpecError, require
from ..fields import numbers, require_whole, shown
from ..tasks import Layout
from .labels import AbstractLabels, LabelsFromPrefix, TrueLabels
from .objectives import AbstractObjective, ExpectedReward, Hinge, weights_of
from .prefix import OwnPrefix
from .supervision import Batch, Supervision, require_layout


def credit(layout: Layout, how: str = "step", discount: float = 1.0) -> Float[np.ndarray, "thought thought"]:
    """Which rewards a token is credited with. token: its own; step: those of its level (Eq. 6); return: also those
    of later levels, `discount` times per level (Lemma D.1 at discount 1)."""
    require(
        how in ("token", "step", "return"),
        f"credit goes to the token, the step or the return: credit={how!r}; use one of the three",
    )
    require_layout(layout)
    level = np.asarray(layout.levels)
    later = level[None, :] - level[:, None]
    found = {"token": np.eye(layout.thoughts), "step": later == 0, "return": (later >= 0) * discount ** np.abs(later)}
    return found[how].astype(np.float32)


class PolicyGradient(AbstractObjective):
    """REINFORCE: each token's log-likelihood times its advantage, the credited rewards less a baseline.

    baseline: none; batch, the mean over the batch; group, the mean over the `group` neighbouring chains that share
    an input (`Repeated` makes them), divided by their spread where `scaled`.
    """

    credit: Float[Array | np.ndarray, "thought thought"]
    baseline: str = eqx.field(static=True, default="none")
    group: int = eqx.field(static=True, default=1)
    scaled: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        if not isinstance(self.credit, np.ndarray | jax.Array):
            raise SpecError(
                f"got credit={shown(self.credit)}; allowed is an array over thoughts and thoughts; use for example "
                "credit(task.layout, 'step')"
            )
        require_whole(group=self.group)
        require(
            self.baseline in ("none", "batch", "group"),
            f"a baseline is none, batch or group: baseline={self.baseline!r}; use one of the three",
        )
        require(
            self.baseline != "group" or self.group > 1,
            f"a group baseline compares chains of one input: group={self.group}; use 2 or more",
        )

    def advantage(self, prediction, labels, where, tokens):
        gains = weights_of(where) * prediction.agreement(tokens, labels)
        found = jnp.einsum("ij,jsb->isb", jnp.asarray(self.credit), gains)
        if self.baseline == "batch":
            return found - found.mean(axis=-1, keepdims=True)
        if self.baseline == "group":
            split = found.reshape(*found.shape[:-1], -1, self.group)
            split = split - split.mean(axis=-1, keepdims=True)
            if self.scaled:
                split = split / (split.std(axis=-1, keepdims=True) + 1e-6)
            return split.reshape(found.shape)
        return found

    def __call__(self, prediction, labels, where, tokens):
        advantage = jax.lax.stop_gradient(self.advantage(prediction, labels, where, tokens))
        return -jnp.sum(advantage * prediction.log_prob(tokens)) / tokens.shape[-1]


class Clipped(AbstractObjective):
    """The surrogate min(r A, clip(r, 1 - ratio, 1 + ratio) A) per token, r the ratio to the policy that generated the
    batch (ratio 0: unclipped importance weighting). The advantage A is that of `policy_gradient`. A stage with `reuse`
    takes several updates on one batch; on the first, r = 1 and this is the policy gradient."""

    policy_gradient: PolicyGradient

    def __check_init__(self):
        kind = type(self.policy_gradient).__name__
        require(
            isinstance(self.policy_gradient, PolicyGradient),
            f"a ratio clips a policy gradient: {kind}; use PolicyGradient",
        )

    ratio: Float[Array | np.ndarray, ""] = eqx.field(converter=numbers)

    def __call__(self, prediction, labels, where, tokens):
        return self.policy_gradient(prediction, labels, where, tokens)

    def surrogate(self, prediction, batch: Batch) -> Float[Array, ""]:
        ratio = jnp.exp(prediction.log_prob(batch.tokens) - batch.old)
        held = jnp.where(self.ratio > 0, jnp.clip(ratio, 1 - self.ratio, 1 + self.ratio), ratio)
        return -jnp.sum(jnp.minimum(ratio * batch.advantage, held * batch.advantage)) / batch.tokens.shape[-1]


class Unlearned(AbstractObjective):
    """The objective on levels that still err: a level whose own tokens are all right in the batch is frozen, as in the
    proof of rl-sft's Thm 3.3."""

    objective: AbstractObjective
    levels: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, prediction, labels, where, tokens):
        wrong = jnp.any(prediction.greedy() != labels, axis=(1, 2))
        same = np.asarray(self.levels)[:, None] == np.asarray(self.levels)[None, :]
        erring = (same & wrong[None, :]).any(axis=1)
        return self.objective(prediction, labels, where * erring[:, None], tokens)


def process_reward(
    layout: Layout, objective: AbstractObjective | None = None, labels: AbstractLabels | None = None, flips=None
) -> Supervision:
    """RL: own sampled thoughts, each rewarded by the gate on the own prefix (or by other labels), 1/(k-1) per token."""
    require_layout(layout)
    where = np.full((layout.thoughts, layout.slots), 1 / layout.thoughts)
    return Supervision(
        OwnPrefix("sampled"), labels or LabelsFromPrefix(), where, objective or ExpectedReward(), flips=flips
    )


def self_generated(layout: Layout, objective: AbstractObjective | None = None, flips=None) -> Supervision:
    """SFT without teacher forcing: own greedy thoughts, which are constants, and true labels (Eq. 11)."""
    require_layout(layout)
    where = np.full((layout.thoughts, layout.slots), 1 / layout.thoughts)
    return Supervision(OwnPrefix("greedy"), TrueLabels(), where, objective or Hinge(), flips=flips)


def outcome_reward(layout: Layout, objective: AbstractObjective | None = None) -> Supervision:
    """RL: own sampled thoughts, and the answer alone is rewarded; every token is credited with it."""
    require_layout(layout)
    where = np.zeros((layout.thoughts, layout.slots))
    where[-1] = 1
    objective = objective or PolicyGradient(credit(layout, "return"), "batch")
    return Supervision(OwnPrefix("sampled"), TrueLabels(), where, objective, answer=True)
