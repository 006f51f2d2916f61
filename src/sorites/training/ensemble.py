"""Train an ensemble: many members of one run, in one compiled program per structure.

Seeds, secrets, rates, weights and masks are data of the program. What a member computes depends on its run and its
seed alone; how members share the device (`strategies.py`) changes only rounding.
"""

import dataclasses
import math
from collections.abc import Iterable, Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Array, Int

from ..display.summary import summary
from ..errors import require
from ..fast import compiler
from ..fields import shown
from ..models import AbstractModel
from ..runtime.devices import drop_programs_before_the_limit
from .check import check
from .checkpoint import Checkpoint
from .chunks import Loop, train_stage
from .clock import Clock
from .history import History
from .member import Member, init_member, start_stage
from .memory import memory_errors_refused
from .plan import Plan, plans
from .progress import Listener
from .records import history_of
from .reports import Callback, Reports
from .seeds import members_of
from .segments import Call, run_segments
from .snapshots import finish_snapshots, snapshots_of
from .stage import Run, Stage, Start, Until
from .state import EnsembleState
from .strategies import STRATEGIES, choose_strategy, spread_over
from .trees import stacked, take, to_device

CHUNK = 25  # evaluations per call of the compiled program


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """The outcome of an ensemble: its history, and its models and secrets with a leading member axis."""

    history: History
    models: AbstractModel
    secrets: object
    starts: Sequence[Start | None]  # of the members' runs
    chains_per_second: float = math.nan  # chains per second over all members, without compilation
    snapshots: dict[int, AbstractModel] = dataclasses.field(default_factory=dict)  # models at the steps of `snapshots`

    def __repr__(self) -> str:
        return f"Trained({summary(self.history)})"

    def _repr_html_(self) -> str:
        return self.history._repr_html_()

    def model(self, index: int, step: int | None = None) -> AbstractModel:
        """Return one member's trained model, or its model at a step of `snapshots`."""
        return take(self.models if step is None else self.snapshots[step], index)

    def secret(self, index: int):
        """Return the secret of one member."""
        return take(self.secrets, index)

    def start(self, index: int) -> Start:
        """Return where a training that continues this member begins: its secret, and new batches."""
        steps, samples = self.history.steps_taken()[index], self.history.samples[index]
        return Start.after(self.secret(index), self.starts[index], int(steps), int(samples))

    def continue_with(self, index: int, stages: Iterable[Stage], goal: Until | None = None) -> Run:
        """Return a run that trains one member further.

        Args:
            index: which member.
            stages: what it goes through next. Task and supervision may differ from before.
            goal: as in `Run`.

        Returns:
            A run that starts from the member's weights and secret. Trained with the member's seed, it takes the next
            batches of the same data stream.
        """
        return Run(self.model(index), stages, goal, self.start(index))


def train(
    runs: Run | Sequence[Run],
    seeds: Sequence[int],
    strategy: str = "auto",
    seconds: float | None = None,
    progress: Listener | bool | None = None,
    chunk: int = CHUNK,
    shrink: int = 2,
    snapshots: Sequence[int] = (),
    checkpoint: Checkpoint | None = None,
    callback: Callback | None = None,
) -> Trained:
    """Train one member per seed.

    Args:
        runs: one run, or one for each seed; they may differ in arrays only (rates, weights, masks, steps).
        seeds: a number for each member, from 0 to 2^31 - 1. It determines secret, weights and batches.
        strategy: "vmap" trains the members side by side in one program; "sequential" trains them one after another in
            one program, which skips finished members; "separate" calls a program of one member once for each; "auto"
            takes what is faster on this device.
        seconds: end this call after so much training time, without compilation. The history marks the members that
            still train as censored.
        progress: by default a training of more than two seconds shows a line in a terminal (on standard error) or a
            notebook, unless a `reporting` block surrounds the call. False shows and reports nothing. A function is
            called between chunks with a `Progress`.
        chunk: evaluations in one call of the compiled program.
        shrink: under "vmap", finished members are dropped when at most 1/shrink still train.
        snapshots: steps at which the weights are kept in `Trained.snapshots`.
        checkpoint: where the state is saved while this call trains. The same call resumes from it after a kill.
        callback: `callback(step, metrics, members)` is called between chunks, once for each evaluation, in the order of
            steps. The evaluation on entry to a stage has the last step of the stage before it. `metrics` maps a name
            to an array `[member, ...level]`, with NaN for members that have stopped. `members` has the arrays `seeds`,
            `solved`, `finished` and `diverged`, and the number of the `stage`. The arrays are copies. An exception
            ends the training. A resumed training reports the evaluations after the checkpoint.

    Returns:
        The history, the models and the secrets of all members.

    Raises:
        SpecError: where the run cannot be trained, or an argument is not allowed; one sentence says why, before
            anything is compiled.
    """
    runs, seeds = _checked(runs, seeds, strategy, seconds, chunk, shrink)
    drop_programs_before_the_limit()
    run, strategy, clock = stacked(runs), choose_strategy(runs[0], len(seeds), strategy), Clock(seconds)
    fast = compiler.compile_training_fast(runs[0].model, runs[0].stages[0].evaluation.every)
    program = compiler.compiled(train_members, fast, donate="all-except-first")
    loop = Loop(program, plans(run), strategy, chunk, shrink, snapshots_of(run, snapshots), clock)
    if checkpoint is not None:
        checkpoint = checkpoint.of(strategy, chunk, shrink, tuple(snapshots))
    with memory_errors_refused(), Reports(run, seeds, progress, callback) as report:
        state = _resumed(checkpoint, run, seeds) or _started(run, seeds)
        while True:
            for after in train_stage(loop, state):
                state = after
                if checkpoint is not None:
                    checkpoint.note(state)
                report(state)
            state = finish_snapshots(run, snapshots, _count_samples(run, state))
            if clock.out or state.stage == len(run.stages):
                break
            state = _next_stage(run, state)
    history = history_of(seeds, state.records, state.members, state.samples, clock.out)
    starts = [each.start for each in runs]
    return Trained(history, state.members.model, state.members.secret, starts, clock.pace, state.snapshots)


def train_members(plan_and_call: tuple[Plan, Call], members: Member, room: int, strategy: str):
    """Train all members that the program holds, each by `run_segments`; the plan has a member axis."""
    plan, call = plan_and_call

    def one(plan, member):
        return run_segments(plan, call, room, strategy == "vmap", member)

    return spread_over(one, strategy)(plan, members)


def init_members(run: Run, seeds: Int[Array, " member"]) -> Member:
    """Draw all members and start their first stage."""
    return eqx.filter_vmap(lambda run, seed: start_stage(run.stages[0], init_member(run, seed)))(run, seeds)


def start_stages(stage: Stage, members: Member) -> Member:
    """Start a later stage for all members."""
    return eqx.filter_vmap(start_stage)(stage, members)


def _checked(runs, seeds, strategy, seconds, chunk, shrink) -> tuple[list[Run], list[int]]:
    """Return one run and one seed for each member, or refuse."""
    runs, seeds = members_of(runs, seeds)
    require(
        strategy in STRATEGIES,
        f"got strategy={strategy!r}; allowed are {', '.join(STRATEGIES)}; use 'auto' for the fastest on this device",
    )
    timed = seconds is None or (isinstance(seconds, int | float) and seconds >= 0)
    require(timed, f"got seconds={shown(seconds)}; allowed is a number from 0, or None; write for example seconds=60")
    require(chunk >= 1 and shrink >= 2, f"chunk >= 1 and shrink >= 2: chunk={chunk}, shrink={shrink}; use such numbers")
    for run in {id(run): run for run in runs}.values():
        check(run)
    return runs, seeds


def _started(run: Run, seeds: Sequence[int]) -> EnsembleState:
    """Return the state before the first evaluation."""
    program = compiler.compiled(init_members, fast_compile=True)
    members = program(run, to_device(np.asarray(seeds, np.int32)))
    count = len(seeds)
    return EnsembleState(1, 0, members, np.arange(count), (), np.zeros(count, np.int64), {})


def _resumed(checkpoint: Checkpoint | None, run: Run, seeds: Sequence[int]) -> EnsembleState | None:
    """Return the state that the checkpoint holds for this very ensemble, if there is one."""
    about = None if checkpoint is None else checkpoint.about()
    if checkpoint is None or about is None:
        return None
    shapes = eqx.filter_eval_shape(init_members, run, to_device(np.asarray(seeds, np.int32)))
    for stage in run.stages[1 : about["stage"]]:
        shapes = eqx.filter_eval_shape(start_stages, _without_supervision_and_until(stage), shapes)
    return checkpoint.read(about, shapes)


def _next_stage(run: Run, state: EnsembleState) -> EnsembleState:
    stage = _without_supervision_and_until(run.stages[state.stage])
    members = compiler.compiled(start_stages, fast_compile=True)(stage, state.members)
    return dataclasses.replace(state, stage=state.stage + 1, evaluations=0, members=members)


def _without_supervision_and_until(stage: Stage) -> Stage:
    """Remove what starting a stage does not depend on, so that all stages share the program that starts them."""
    return dataclasses.replace(stage, supervisions=(), until=None)


def _count_samples(run: Run, state: EnsembleState) -> EnsembleState:
    """Add the chains that each member consumed in the present stage."""
    steps = (np.asarray(state.members.step) - np.asarray(state.members.stage_start)).astype(np.int64)
    samples = state.samples + steps * np.asarray(run.stages[state.stage - 1].source.samples)
    return dataclasses.replace(state, samples=samples)
