"""The decoder experiments: plain settings and arrays, no tables and no drawing, so that a bare GPU machine can run them
(`bench/lego_paper_scale.py`)."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...models.decoder import DecoderSpec
from ...tasks.actions import action_named
from ...training.lego_decoder import (
    FRESH,
    Labelled,
    Member,
    Scores,
    advance,
    evaluate,
    labelled,
    lesson,
    member,
    room_for,
    sentences,
    stacked,
)

FOREVER = 2**30  # steps over which a rate would decay: it does not


@dataclasses.dataclass(frozen=True)
class Arm:
    """One condition of the comparison."""

    action: str
    pool: int | None = None  # number of fixed training sentences; None draws fresh ones
    residual: float = 0.0
    decay: float = 0.0  # linear decay of the rate, 1 ends at zero
    rate: float = 1e-4

    @property
    def name(self) -> str:
        data = "fresh" if self.pool is None else f"{self.pool} fixed"
        return f"{self.action}, {data}, {'residual' if self.residual else 'no residual'}, decay {self.decay:g}, rate {self.rate:g}"


@dataclasses.dataclass(frozen=True)
class Decoding:
    """The decoder and its training; the paper states the length, two heads, Adam 1e-4 and 300 epochs."""

    variables: int = 200  # |X|
    token_width: int = 64
    width: int = 256
    heads: int = 2
    hidden: int = 1024
    normalised: bool = False
    positions: str = "none"
    blanks: bool = True  # the loss counts the three blank tokens of an answer, too
    length: int = 5  # L in training
    batch: int = 128
    steps: int = 32_000
    checks: int = 8  # evaluations along the way
    lengths: tuple[int, ...] = (5, 10, 20, 40, 80, 160)
    count: int = 500  # test sentences
    seeds: int = 3

    def __post_init__(self):
        for name in ("token_width", "width", "heads", "hidden", "length", "batch", "steps", "checks", "count", "seeds"):
            require(getattr(self, name) >= 1, f"a study needs one or more: {name}={getattr(self, name)}; use 1 or more")
        require(
            self.steps % self.checks == 0,
            f"checks are equally far apart: steps={self.steps}, checks={self.checks}; use a multiple of the checks",
        )

    def spec(self, arms: Sequence[Arm]) -> DecoderSpec:
        words = room_for([action_named(arm.action) for arm in arms], self.variables)
        taught = (0, 1, 2, 3, 4) if self.blanks else (3, 4)
        return DecoderSpec(words, self.token_width, self.width, self.heads, self.hidden, 0.0, self.normalised,
                           self.positions, taught=taught)  # pyright: ignore  # fmt: skip

    def members(self, arms: Sequence[Arm], spec: DecoderSpec | None = None) -> Member:
        """Arms by seeds, side by side; a spec with more room makes ensembles share one program."""
        spec = spec or self.spec(arms)
        return stacked(
            [
                member(
                    spec,
                    lesson(action_named(arm.action), spec.vocabulary, seed, arm.rate, arm.pool, arm.decay),
                    arm.residual,
                )
                for arm in arms
                for seed in range(self.seeds)
            ]
        )


class Check(NamedTuple):
    step: int
    loss: np.ndarray  # [member], mean since the check before
    scores: Scores


def training(
    size: Decoding, members: Member, together: bool | None = None, pieces: int = 1
) -> Iterator[tuple[Member, Check]]:
    """Members and their scores at each check; `pieces` splits the way to a check into shorter compiled calls."""
    together = jax.default_backend() != "cpu" if together is None else together
    each, left = divmod(size.steps // size.checks, pieces)
    require(
        left == 0,
        f"the way to a check is cut into equal pieces: steps={size.steps}, checks={size.checks}, pieces={pieces}; "
        "use pieces that divide steps / checks",
    )
    for check in range(1, size.checks + 1):
        losses = []
        for _ in range(pieces):
            members, loss = advance(members, each, size.length, size.batch, jnp.asarray(size.steps), together=together)
            losses.append(np.asarray(loss))
        scores = evaluate(members, size.lengths, size.count, together)
        yield members, Check(each * pieces * check, np.mean(losses, axis=0), scores)


def gathered(checks: Sequence[Check]) -> dict[str, np.ndarray]:
    """Arrays of an ensemble: check x member (x length); attention by step at the last check only."""
    scores = [check.scores for check in checks]
    return {
        "step": np.array([check.step for check in checks]),
        "loss": np.stack([check.loss for check in checks]),
        "values": np.stack([score.values for score in scores]),
        "clauses": np.stack([score.clauses for score in scores]),
        "predicate": scores[-1].predicate,
        "answer": scores[-1].answer,
        "rates": scores[-1].steps,
    }


class Stage(NamedTuple):
    length: int
    labels: np.ndarray  # [member]: share of training sentences with every self-made value true
    loss: np.ndarray
    scores: Scores


def self_training(
    size: Decoding,
    members: Member,
    lengths: Sequence[int],
    pool: int,
    steps: int,
    noise: float = 0.0,
    confidence: float = 0.0,
    together: bool | None = None,
) -> Iterator[tuple[Member, Stage]]:
    """Each stage trains on, from the weights before, with sentences of its length that the stage before labelled."""
    together = jax.default_backend() != "cpu" if together is None else together
    for length in lengths:
        require(length < size.variables, f"|X| >= L+1: variables={size.variables}, length={length}; use more variables")
        stored = _annotated(members, length, pool, noise, confidence)
        members, loss = advance(members, steps, length, size.batch, jnp.asarray(FOREVER), stored, together)
        scores = evaluate(members, size.lengths, size.count, together)
        yield members, Stage(length, np.asarray(stored.right), np.asarray(loss), scores)


@eqx.filter_jit
def _annotated(members: Member, length: int, pool: int, noise: float, confidence: float) -> Labelled:
    return jax.lax.map(lambda one: labelled(one, length, pool, noise, confidence), members)


def attention_maps(members: Member, length: int, count: int, permutation: Sequence[int] | None = None) -> np.ndarray:
    """[member, query, clause]: teacher-forced attention, mean over heads and sentences; predicates reordered."""
    order = np.arange(2 * length)
    if permutation is not None:
        order[:length] = permutation

    def one(each: Member):
        index = FRESH - 1 - jnp.arange(count)
        clauses = sentences(each.lesson, each.model.spec.vocabulary, index, length)[:, :-1][:, order]
        return each.model(clauses)[1].mean(axis=(0, 1))

    return np.asarray(jax.jit(lambda members: jax.lax.map(one, members))(members))
