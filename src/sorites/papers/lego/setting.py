"""What the claims are checked on: the theory's model at finite size, trained in the lab that the claim is given."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ...errors import require
from ...fast.compiler import fast_compile
from ...ledger import alone
from ...models.features import Features, drawn, ideal
from ...models.routing import Masses, Routing, rollout, uniform
from ...models.srelu import SReLU
from ...tasks.actions import Action, action_named
from ...tasks.lego import Vocabulary, chained
from ...theory.precision import in_float64
from ...training import PLAIN, Lab
from ...training.lego_theory import (
    FeatureHistory,
    Grown,
    RoutingHistory,
    self_train,
    train_features,
    train_routing,
    two_steps,
)

PAPER = "lego"
ROUNDING = 1e-10  # float64 sums of a few thousand terms of size up to a hundred
LENGTHS = (5, 10, 20, 40, 80, 160)
PLAIN_SRELU = "the smoothed ReLU is zero below 0: neither Def. 3.4, which rises to rho/q there, nor Assumption B.2"
FROZEN = "variable slots are frozen (Assumption B.1); classes that are no values are untrained, their logits constant"
FINITE = (
    "features at their converged shape (Thm B.1, C.1, finite n) under a smoothed ReLU with q=4 and width 0.5 that is zero "
    f"below 0 (neither Def. 3.4 nor Assumption B.2); {FROZEN}"
)
STEPS = "normalised steps rate/(1+t/slowing): plain descent converges only logarithmically at finite size"


@dataclasses.dataclass(frozen=True)
class Theory:
    """Stage 2 (stage 1.2 for symmetry actions) from converged features; steps are normalised."""

    variables: int = 200  # |X|
    clipping: float = 4.0  # C_B, B = C_B log d
    steps: int = 300
    rate: float = 0.1
    slowing: float = 100.0

    def __post_init__(self):
        require(self.clipping > 0, f"logits are clipped above zero: clipping={self.clipping}; use a positive number")
        require(self.steps >= 4, f"a run is looked at by quarters: steps={self.steps}; use 4 or more")
        require(self.rate > 0, f"a step goes downhill: rate={self.rate}; use a positive rate")
        require(self.slowing > 0, f"steps shrink as 1/(1+t/slowing): slowing={self.slowing}; use a positive number")
        self.admit(2)

    def admit(self, longest: int) -> None:
        """Refuse sentences that have more variables than there are."""
        require(
            longest < self.variables,
            f"a sentence of length L has L+1 different variables: variables={self.variables}, length={longest}; "
            "use more variables or shorter sentences",
        )

    @property
    def travelled(self) -> Float[np.ndarray, " step"]:
        """Path length of Q's rows after each step, up to the sum's difference from its integral."""
        return self.rate * self.slowing * np.log1p(np.arange(self.steps + 1) / self.slowing)

    def size(self, action: Action) -> int:
        """d."""
        return Vocabulary(self.variables, action.actions, action.values).size

    def features(self, action: Action) -> Features:
        return ideal(action, self.size(action), self.clipping, SReLU())

    def run(self, name: str, lab: Lab = PLAIN) -> RoutingHistory:
        """Algorithm 1 on simply transitive actions (both losses), Algorithm 2's stage 1.2 on others (second loss)."""
        return lab.keep((name, alone(Theory, self)), _routed, like=example())

    def continued(self, name: str, stages: int, steps: int, samples: int, lab: Lab = PLAIN) -> list[Grown]:
        """Algorithm 2 from stage 2 on."""
        spec = (name, alone(Theory, self), self.run(name, lab).end, stages, steps, samples)
        histories = lab.keep(spec, _self_trained, like=[example()] * stages)
        return [Grown(2**number, history) for number, history in enumerate(histories, start=2)]


def example() -> RoutingHistory:
    """One of that shape: what `lab.keep` fills."""
    return RoutingHistory(uniform(), jnp.zeros(1), jnp.zeros(1))


@in_float64
def _routed(spec: tuple[str, Theory]) -> RoutingHistory:
    name, size = spec
    action = action_named(name)
    terms = (1, 2) if action.simply_transitive else (2,)
    features = size.features(action)
    starts = 1 if action.group is not None and action.transitive else None  # renaming values changes nothing
    return train_routing(
        features, uniform(), two_steps(action, starts), terms, size.variables, size.steps, size.rate, size.slowing
    )


def _self_trained(spec: tuple[str, Theory, Routing, int, int, int]) -> list[RoutingHistory]:
    name, size, start, stages, steps, samples = spec
    action, key = action_named(name), jax.random.key(0)
    grown = self_train(
        size.features(action), start, action, size.variables, stages, steps, samples, key, size.rate, size.slowing
    )
    return [stage.history for stage in grown]


def masses(history: RoutingHistory, length: int = 2, step: int = 2) -> Masses:
    """Attention along the run, one row per step."""
    return jax.vmap(lambda routing: routing.masses(length, jnp.asarray(step)))(history.routing)


@fast_compile
def _right(features, routing, table, lengths, key, count: int, longest: int):
    def at(length):
        moves, starts = jax.random.split(jax.random.fold_in(key, length))
        actions = jax.random.randint(moves, (count, longest), 0, table.shape[0])
        start = jax.random.randint(starts, (count,), 0, table.shape[1])
        written = rollout(features, routing, actions, start, longest, length)
        truth = chained(table, actions, start)[:, 1:]
        return ((written == truth) | (jnp.arange(longest) >= length)[None]).all(axis=1).mean()

    return jax.lax.map(at, lengths)


def accuracies(
    features: Features, routing: Routing, action: Action, lengths: tuple[int, ...] = LENGTHS, count: int = 1000
) -> Float[np.ndarray, " length"]:
    """Share of sentences with every value right in a greedy free-running rollout."""
    table, key = jnp.asarray(action.table), jax.random.key(7)
    found = _right(features, routing, table, jnp.asarray(lengths), key, count, max(lengths))
    return np.asarray(found, float)


@dataclasses.dataclass(frozen=True)
class Learning:
    """Stage 1 at finite size. The literal spread d^{-1/2} violates mu << rho at any practical d."""

    action: str
    size: int = 30  # d
    neurons: int = 12  # m
    spread: float = 3e-3  # sigma_0
    clipping: float = 2.0  # C_B
    rate: float = 10.0
    steps: int = 12_000
    records: int = 100

    @property
    def ceiling(self) -> float:
        return self.clipping * float(np.log(self.size))

    @property
    def bias(self) -> float:
        return self.spread * float(np.log(self.size))

    def start(self, seed: int) -> Features:
        action = action_named(self.action)
        return drawn(action, self.size, self.neurons, self.spread, self.clipping, SReLU(), jax.random.key(seed))

    def run(self, seed: int, lab: Lab = PLAIN) -> tuple[Features, FeatureHistory]:
        """Features at initialisation and their history."""
        start = self.start(seed)
        like = FeatureHistory(np.zeros(1, int), jnp.zeros(1), start)
        return start, lab.keep((alone(Learning, self), seed), _learned, like=like)


def _learned(spec: tuple[Learning, int]) -> FeatureHistory:
    size, seed = spec
    every = max(1, size.steps // size.records)
    return train_features(size.start(seed), action_named(size.action), size.rate, size.steps, every)


CYCLIC3 = Learning("C3", spread=1e-3, rate=40.0, steps=20_000)
CYCLIC6 = Learning("C6", 50, 24, 1e-3, rate=40.0, steps=20_000)
CYCLIC4 = Learning("C4", 40, 16, 1e-3, rate=40.0, steps=20_000)
SYMMETRIC3 = Learning("S3", spread=1e-3, rate=40.0, steps=30_000)
SYMMETRIC4 = Learning("S4", 50, 16, 1e-3, rate=40.0, steps=30_000)
WIDE4 = Learning("S4", 229, 16, 1e-3, rate=40.0, steps=30_000)  # |X| = 200
SYMMETRIC5 = Learning("S5", 326, 15, 1e-3, rate=300.0, steps=40_000)  # |X| = 200


def winners(history: FeatureHistory, action: Action) -> tuple[Int[np.ndarray, "value source"], Features]:
    """The neuron that carries each fibre (class j, value y) at the end: largest mean V over the fibre."""
    end: Features = jax.tree.map(lambda leaf: np.asarray(leaf[-1], float), history.features)
    return ensemble_magnitudes(end, action).argmax(axis=1), end


def ensemble_magnitudes(features: Features, action: Action) -> Float[np.ndarray, "value neuron source"]:
    """Mean of V_{j,r}(g, y) over the fibre of (j, y): one combination if the action is simply transitive."""
    moves, states = np.asarray(features.actions, float), np.asarray(features.values, float)
    pairs = (moves[..., :, None] + states[..., None, :]) / 2  # [class, neuron, action, value]
    reaches = action.table[None] == np.arange(action.values)[:, None, None]  # [class, action, value]
    return (pairs * reaches[:, None]).sum(axis=2) / reaches.sum(axis=1)[:, None]
