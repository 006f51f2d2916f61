"""The decoder experiments: plain settings and arrays, no tables and no drawing, so that a bare GPU machine can run them
(`bench/lego_paper_scale.py`)."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...models import AbstractModel
from ...models.decoder import decoder
from ...probes import LengthCurve
from ...supervision import CrossEntropy, Passes, Pooled, Rewritten, teacher_forcing
from ...tasks import Chain, Lego, action_named, room_for
from ...training import Adam, Decay, Evaluation, History, Run, Stage, Until

FRESH = 2**31 - 1  # sentences to choose from: never the same one twice


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

    def probes(self, task: Lego) -> tuple[LengthCurve, ...]:
        return tuple(LengthCurve(task.at(length), self.count) for length in self.lengths)

    def runs(
        self, arms: Sequence[Arm], lengths: Sequence[int] = (), self_pool: int = 0, self_steps: int = 0
    ) -> list[Run]:
        """Arms by seeds; after the training itself a stage of self-training for every one of `lengths`, on sentences of
        that length whose answers the stage before wrote."""
        room = room_for([action_named(arm.action) for arm in arms], self.variables)
        made = []
        for arm in arms:
            task = Lego(arm.action, self.length, self.variables, room)
            slots = (0, 1, 2, 3, 4) if self.blanks else (3, 4)
            model = decoder(task, self.token_width, self.width, self.heads, self.hidden, arm.residual, self.normalised,
                            self.positions, slots=slots)  # pyright: ignore  # fmt: skip
            rule = Decay(Adam(arm.rate), self.steps, arm.decay)  # pyright: ignore
            forced, probes = teacher_forcing(task.layout, CrossEntropy()), self.probes(task)
            source = Passes(self.batch, arm.pool or FRESH)  # pyright: ignore
            checks = Evaluation(self.steps // self.checks, self.count, probes)
            stages = [Stage(task, (forced,), source, rule, self.steps, checks)]  # pyright: ignore
            for length in lengths:
                longer, after = task.at(length), Evaluation(self_steps, self.count, probes)
                source = Rewritten(Pooled(self_pool, min(self.batch, self_pool)))
                forced = teacher_forcing(longer.layout, CrossEntropy())
                stages.append(Stage(longer, (forced,), source, rule, self_steps, after, reset=False, freeze=True))  # pyright: ignore
            made += [Run(model, stages, Until(f"values@{self.lengths[0]}"))] * self.seeds
        return made


def gathered(size: Decoding, history: History) -> dict[str, np.ndarray]:
    """Arrays of an ensemble: check x member (x length); attention by step at the last check only."""
    checks = np.flatnonzero((history.step > 0) & (history.stage == 1))

    def over_lengths(name: str) -> np.ndarray:  # check x member x length
        return np.stack([history.metrics[f"{name}@{length}"][:, checks].T for length in size.lengths], axis=-1)

    def by_step(name: str) -> np.ndarray:  # member x length x step, zero beyond the length
        found = np.zeros((len(history.seeds), len(size.lengths), max(size.lengths)), np.float32)
        for place, length in enumerate(size.lengths):
            found[:, place, :length] = history.metrics[f"{name}@{length}"][:, checks[-1], :length]
        return found

    return {
        "step": history.step[checks],
        "loss": history.metrics["training.loss"][:, checks].T,
        "values": over_lengths("values"),
        "clauses": over_lengths("clauses"),
        "predicate": by_step("predicate"),
        "answer": by_step("query"),
        "rates": by_step("rates"),
    }


def self_trained(size: Decoding, lengths: Sequence[int], history: History) -> dict[str, np.ndarray]:
    """After every stage of self-training: all values right by test length, and the loss; labels are the share of
    sentences of the new length that its teacher wrote without a wrong value, held-out ones for those of the pool."""
    found: dict[str, Any] = {}
    for stage, length in enumerate(lengths, start=2):
        ends = [history.end(stage, f"values@{each}") for each in size.lengths]
        found[f"values{length}"] = np.stack(ends, axis=-1)
        found[f"labels{length}"] = history.entry(stage, f"values@{length}")
        found[f"loss{length}"] = history.end(stage, "training.loss")
    return found


@eqx.filter_jit
def _looked(model: AbstractModel, chains: Chain):
    return model.attend(chains)[0].mean(axis=(0, 3))[:, :-1]


def attention_map(
    model: AbstractModel, task: Lego, secret: Any, count: int, permutation: Sequence[int] | None = None
) -> np.ndarray:
    """[query, clause]: teacher-forced attention, mean over heads and sentences; predicates reordered."""
    order = np.arange(task.layout.positions)
    if permutation is not None:
        order[: task.length] = permutation
    chains = task.numbered(secret, jnp.arange(count, dtype=jnp.uint32), held_out=True)
    return np.asarray(_looked(model, Chain(chains.tokens[order], chains.layout)))
