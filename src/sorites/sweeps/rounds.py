"""A sweep on its way: jobs out of the plan, look by look where there is an ending, and who goes on after each."""

import functools
from pathlib import Path

import numpy as np

from ..store import Store, identities
from ..training import Run
from .drive import Drive
from .endings import AbstractEnding, budget, cut, goal_values
from .plan import Ensemble, SweepPlan
from .rows import Part
from .work import Job, Outcome, work


class Rounds:
    """`members` are (place of the run, seed); a member's number is its row in the table."""

    def __init__(
        self,
        runs: list[Run],
        seeds: list[int],
        plan: SweepPlan,
        store: Store | None,
        ending: AbstractEnding | None,
        weights: bool,
        mark: Path | None,
        named: bool,
    ):
        self.runs, self.plan, self.store = runs, plan, store
        self.ending, self.weights, self.mark, self.named = ending, weights, mark, named
        self.members = [(place, int(seed)) for place in range(len(runs)) for seed in seeds]
        self.taken = 0  # members that were in the store; at every look anew
        self._row = {member: row for row, member in enumerate(self.members)}

    def run(self, drive: Drive) -> tuple[list[Part], tuple[tuple[int, str], ...]]:
        """What every member came to, once each, and what failed."""
        parts: list[Part] = []
        failed: list[tuple[int, str]] = []
        alive = set(range(len(self.members)))
        for number in range(max(len(self._budgets(each.number)) for each in self.plan.programs) + 1):
            brought = []
            jobs = [job for each in self.plan.ensembles for job in self._jobs(each, number, alive)]
            for job, outcome in drive(jobs, self._there):
                if isinstance(outcome, str):
                    failed.append((len(job.seeds), outcome))
                    alive -= set(job.rows)
                else:
                    self.taken += outcome.taken
                    self._stored(job, outcome)
                    brought.append(Part(job, outcome))
            going_on = self._going_on(brought, number)
            parts += [part for part in (each.without(going_on) for each in brought) if len(part.rows)]
            alive = going_on
        return parts, tuple(failed)

    def _there(self, job: Job) -> Outcome | None:
        """What is in the store as a whole: nobody is sent for it."""
        if self.store is None or not set(job.ids) <= self._known:
            return None
        return work(job, self.store)

    @functools.cached_property
    def _known(self) -> set[str]:
        assert self.store is not None
        return {each for folder in self.store.folders() if folder.holds((), self.weights) for each in folder.ids}

    def _budgets(self, program: int) -> list[int]:
        if self.ending is None:
            return []
        return self.ending.budgets(budget(self.runs[self.plan.programs[program - 1].runs[0]]))

    def _jobs(self, ensemble: Ensemble, number: int, alive: set[int]) -> list[Job]:
        """Of an ensemble those who are still there, at their next look or to the end."""
        budgets = self._budgets(ensemble.program)
        members = [member for member in ensemble.members if self._row[member] in alive]
        if not members or number > len(budgets):
            return []
        places = {place: index for index, place in enumerate(dict.fromkeys(place for place, _ in members))}
        runs = [self.runs[place] for place in places]
        share = len(members) / len(ensemble.members)
        if number < len(budgets):
            share *= budgets[number] / budget(runs[0])
            runs = [cut(run, budgets[number]) for run in runs]
        which, seeds = [places[place] for place, _ in members], [seed for _, seed in members]
        ids = []
        if self.named:
            ids = [each.id for each in identities([runs[place] for place in which], seeds)]
        root = None if self.store is None else self.store.root.absolute()
        rows = [self._row[member] for member in members]
        lists = map(tuple, (runs, which, seeds, rows, ids))
        return [Job(ensemble.program, *lists, share * ensemble.seconds, root, self.mark, self.weights)]  # pyright: ignore

    def _stored(self, job: Job, outcome: Outcome) -> None:
        """What a worker could not write itself."""
        if self.store is not None and not outcome.stored:
            seconds = sum(each or 0.0 for each in outcome.seconds)
            self.store.put(job.each, job.seeds, outcome.history, outcome.models, seconds)

    def _going_on(self, brought: list[Part], number: int) -> set[int]:
        """Whom the ending lets train further; it says of the others that it ended them."""
        on: set[int] = set()
        for program in self.plan.programs:
            budgets = self._budgets(program.number)
            if self.ending is None or number >= len(budgets):
                continue
            goal = self.runs[program.runs[0]].goal
            assert goal is not None
            open_ = []  # (row, part, place, value)
            for part in brought:
                if part.job.program == program.number:
                    values = goal_values(part.job.runs[0], part.history)
                    places = np.flatnonzero(part.ended_by == "budget")
                    open_ += [(int(part.rows[place]), part, place, values[place]) for place in places]
            open_.sort(key=lambda each: each[0])
            ended = self.ending.ended(np.array([each[-1] for each in open_]), goal.falls) if open_ else []
            for (row, part, place, _), over in zip(open_, ended, strict=True):
                if over:
                    part.ended_by[place] = f"{self.ending.name} at {budgets[number]}"
                else:
                    on.add(row)
        return on
