"""The decoder studies behind the figures, and the settings that `bench/lego_paper_scale.py` runs. No tables, no drawing."""

import dataclasses

import numpy as np

from ...errors import require
from ...tasks import Lego
from ...training import Lab, Run, Trained
from .arms import Arm, Decoding, attention_map, gathered, self_trained

ACTIONS = ("C6", "S5", "C5", "S3/itself", "S3", "A5", "A5/itself", "C6*20", "S5[6]")
"""The paper's two; equal values (C5, S5); equal sizes without commuting (C6, S3/itself); not solvable yet simply
transitive (A5/itself); C6 with as many action tokens as S5; S5 with as few as C6."""
WAYS = ("fresh", "fixed", "fresh-decay", "fixed-residual", "fresh-residual", "fast-decay")
"""Ways of training, the most informative first; `fresh` is what the other figures draw from."""


@dataclasses.dataclass(frozen=True)
class Study(Decoding):
    """Every action under every way of training, then self-training of the last of the pair from the way `fresh`."""

    actions: tuple[str, ...] = ACTIONS
    pair: tuple[str, str] = ("C6", "S5")  # the easy and the hard one
    ways: tuple[str, ...] = WAYS
    rate: float = 1e-4
    pool: int = 20_000  # fixed sentences
    stages: tuple[int, ...] = (10, 20, 40)
    self_pool: int = 8_000
    self_steps: int = 3_000
    permutation: tuple[int, ...] = (3, 0, 4, 2, 1)  # of the predicates in Figure 5
    theory_steps: int = 300  # of the theory's model in the left panels of Figure 1

    def __post_init__(self):
        require(set(self.pair) <= set(self.actions), f"the pair is among the actions: pair={self.pair}; add it")
        require(set(self.ways) <= set(WAYS), f"ways are {', '.join(WAYS)}: ways={self.ways}; use some of these")
        super().__post_init__()
        longest = max(20, *self.lengths, *self.stages)  # the maps of Figures 6 and 7 go to 20
        require(
            longest < self.variables,
            f"a sentence of length L has L+1 different variables: variables={self.variables}, length={longest}; "
            "use more variables or shorter sentences",
        )
        require(
            sorted(self.permutation) == list(range(self.length)),
            f"every predicate stands somewhere once: permutation={self.permutation}; "
            f"use each of 0 to {self.length - 1} once",
        )
        require(
            set(self.stages) <= set(self.lengths),
            f"self-training is watched at its own lengths: stages={self.stages}, lengths={self.lengths}; test them all",
        )
        require(
            len(self.lengths) >= 2 and self.lengths[-1] > self.length,
            f"lengths beyond that of training are compared: lengths={self.lengths}; use two or more, the last above "
            f"{self.length}",
        )

    def arms(self, way: str) -> tuple[Arm, ...]:
        """Ensembles of one shape."""
        extra = {
            "fresh": {},
            "fixed": {"pool": self.pool},
            "fresh-decay": {"decay": 1.0},
            "fixed-residual": {"pool": self.pool, "residual": 1.0},
            "fresh-residual": {"residual": 1.0},
            "fast-decay": {"decay": 1.0, "rate": 5 * self.rate},
        }[way]
        return tuple(Arm(action, **{"rate": self.rate, **extra}) for action in self.actions)

    def rows(self, action: str) -> np.ndarray:
        """The members with this action."""
        first = self.actions.index(action) * self.seeds
        return np.arange(first, first + self.seeds)


def mapped(size: Study, trained: Trained) -> dict[str, np.ndarray]:
    """Attention of every member of the pair, [action, seed, query, clause]: as trained, with permuted predicates, and
    at longer lengths."""
    runs = size.runs(size.arms("fresh"))

    def maps(length: int, permutation: tuple[int, ...] | None = None) -> np.ndarray:
        def of(index: int) -> np.ndarray:
            task = runs[index].task
            assert isinstance(task, Lego)
            return attention_map(trained.model(index), task.at(length), trained.secret(index), 100, permutation)

        return np.stack([[of(int(index)) for index in size.rows(action)] for action in size.pair])

    found = {"plain": maps(size.length), "permuted": maps(size.length, size.permutation)}
    return found | {f"at{length}": maps(length) for length in (10, 20)}


def self_training(size: Study) -> list[Run]:
    """The hard action of the pair, trained as `fresh`, then from its own answers to longer and longer sentences."""
    arm = Arm(size.pair[1], rate=size.rate)
    return size.runs((arm,), size.stages, size.self_pool, size.self_steps)


def ensemble(size: Study, way: str, lab: Lab) -> tuple[Trained, dict[str, np.ndarray]]:
    """The trained members and their arrays."""
    trained = lab.train(size.runs(size.arms(way)), list(range(size.seeds)) * len(size.actions))
    return trained, gathered(size, trained.history)


def measured(size: Study, part: str, lab: Lab) -> dict[str, np.ndarray]:
    """`maps` or `stages` of a study, computed here."""
    if part == "maps":
        return mapped(size, ensemble(size, "fresh", lab)[0])
    return self_trained(size, size.stages, lab.train(self_training(size), range(size.seeds)).history)


EPOCHS = 300  # of the paper


def over_epochs(size: Study, steps: int, checks: int, seeds: int = 1) -> Study:
    """The pair alone, by so many passes over a fixed set and as many presentations of fresh sentences; the set is as
    large as the steps make it."""
    pool = steps * size.batch // EPOCHS
    assert pool * EPOCHS == steps * size.batch, "a set is passed over a whole number of times"
    ways = ("fixed", "fresh")
    return dataclasses.replace(size, actions=size.pair, ways=ways, steps=steps, checks=checks, pool=pool, seeds=seeds)


LARGE = Study()
MAPS = dataclasses.replace(LARGE, actions=LARGE.pair, ways=("fresh",), seeds=8)  # attention of the pair alone
WHOLE = over_epochs(LARGE, 46_875, 5, seeds=4)  # 300 epochs over 20,000 sentences
SMALL = Study(
    50, 32, 64, 2, 128, blanks=False, batch=64, steps=3_000, checks=3, lengths=(5, 10, 20, 40), count=200, seeds=1,
    actions=("C6", "S5"), ways=("fresh",), rate=1e-3, stages=(10, 20), self_pool=1_000, self_steps=500,
)  # fmt: skip
TINY = dataclasses.replace(
    SMALL, variables=24, token_width=16, width=32, hidden=64, batch=32, steps=1_200, checks=2, lengths=(5, 10, 20),
    count=50, actions=("C3", "S3"), pair=("C3", "S3"), rate=3e-3, stages=(10,), self_pool=60, self_steps=20,
    theory_steps=60,
)  # fmt: skip
SMOKE = Study(
    30, 8, 16, 2, 32, steps=8, checks=2, batch=8, lengths=(5, 10, 20), count=8, seeds=2, actions=("C6", "S5", "C6*20"),
    pool=40, stages=(10, 20), self_pool=16, self_steps=4,
)  # fmt: skip
