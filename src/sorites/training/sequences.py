"""Training a GPT on sequences: one pass over fresh data or many over a fixed set, evaluated on the device.

The host loops over chunks of evaluations; between them it reports, drops finished pupils and watches the clock.
"""

import dataclasses
import time
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Int, Key

from ..errors import require
from ..models.gpt import GPT, gpt
from ..tasks.sequences import Secret
from .cache import use_compilation_cache
from .history import History
from .progress import Listener, Progress, listener_or
from .student import Course, Pupil, Student, rule, segment

CHUNK = 16  # evaluations per call of the compiled program


@dataclasses.dataclass(frozen=True, eq=False)
class Taught:
    """What an ensemble leaves behind."""

    history: History  # solved_at counts steps
    models: GPT  # leading axis: pupil
    secrets: Secret
    pupils: tuple[Pupil, ...]
    course: Course
    seconds: float
    pace: float  # sequences per second over all members, after the first chunk (which compiles); NaN if there is one
    finished: bool  # False where the time ran out

    @property
    def samples(self) -> np.ndarray:
        """Sequences seen when solved, else when stopped; a diverged member would not have solved within its budget."""
        budget = np.array([pupil.steps for pupil in self.pupils], np.int64)
        stopped = np.where(self.history.diverged, budget, self.history.samples // self.course.batch)
        return np.where(self.solved, np.minimum(self.history.solved_at, budget), stopped) * self.course.batch

    @property
    def solved(self) -> np.ndarray:
        return self.history.solved_at >= 0

    def model(self, index: int) -> GPT:
        return _take(self.models, index)

    def secret(self, index: int) -> Secret:
        return _take(self.secrets, index)


@eqx.filter_jit(donate="all-except-first")
def _advance(course: Course, students: Student, segments: int, together: bool) -> tuple[Student, dict[str, Array]]:
    """The compiled program: `segments` evaluations of every student."""
    arrays, static = eqx.partition(students, eqx.is_array)

    def many(arrays):
        def body(arrays, _):
            moved, found = segment(course, eqx.combine(arrays, static))
            return eqx.filter(moved, eqx.is_array), found

        return jax.lax.scan(body, arrays, None, length=segments)

    def alone(arrays):
        return jax.tree.map(lambda leaf: leaf[None], many(_take(arrays, 0)))

    def apart(arrays):
        return jax.lax.map(many, arrays)

    lanes = alone if len(students.step) == 1 else jax.vmap(many) if together else apart
    arrays, found = lanes(arrays)
    return eqx.combine(arrays, static), found


@eqx.filter_jit
def _models(course: Course, seeds: Int[Array, " pupil"]) -> tuple[GPT, optax.OptState, Key[Array, " pupil"]]:
    def one(seed):
        _, model_key, drop_key = jax.random.split(jax.random.key(seed), 3)
        model = gpt(course.architecture, course.task.length, model_key)
        return model, rule(course).init(eqx.filter(model, eqx.is_inexact_array)), drop_key

    return eqx.filter_vmap(one, out_axes=eqx.if_array(0))(seeds)


def secrets_of(course: Course, pupils: Sequence[Pupil]) -> Secret:
    """What each pupil has to find, along a leading axis."""
    secrets = []
    for pupil in pupils:
        key = jax.random.split(jax.random.key(pupil.seed), 3)[0]
        secrets.append(course.task.draw(key, pupil.sparsity, pupil.order, pupil.secret))
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *secrets)


def enrol(course: Course, pupils: Sequence[Pupil]) -> Student:
    """The students before any step, along a leading axis."""
    most = course.task.trainable
    for pupil in pupils:
        require(
            course.repeated or pupil.steps * course.batch <= most,
            f"one pass sees every input once: {pupil.steps * course.batch:,} sequences of {most:,} inputs that are not "
            "held out; use a smaller budget or more bits",
        )
        require(
            not course.repeated or 1 <= pupil.size <= most,
            f"a training set has at least one input and spares the held-out ones: size={pupil.size}; use 1 to {most}",
        )
    model, state, key = _models(course, jnp.asarray([pupil.seed for pupil in pupils], jnp.int32))

    def each(field: str, dtype) -> Array:
        return jnp.asarray([getattr(pupil, field) for pupil in pupils], dtype)

    count = len(pupils)
    return Student(
        secret=secrets_of(course, pupils),
        model=model,
        state=state,
        key=key,
        rate=each("rate", jnp.float32),
        steps=each("steps", jnp.int32),
        size=each("size", jnp.int32),
        threshold=each("threshold", jnp.float32),
        stops=each("stops", bool),
        step=jnp.zeros(count, jnp.int32),
        solved_at=jnp.full(count, -1, jnp.int32),
        diverged=jnp.zeros(count, bool),
    )


def teach(
    course: Course,
    pupils: Sequence[Pupil],
    lanes: str = "auto",
    seconds: float | None = None,
    chunk: int = CHUNK,
    shrink: int = 2,
    progress: Listener | None = None,
) -> Taught:
    """Train one member per pupil until it is done; `seconds` of training after the first chunk, which
    compiles, end the ensemble (right-censored).

    Together, finished members are dropped when only 1/`shrink` are left (a new size is a new program); apart, a
    finished member costs nothing.
    """
    require(len(pupils) > 0, "an ensemble needs at least one pupil: pupils=0; use 1 or more")
    require(shrink >= 2, f"an ensemble shrinks to a half or less: shrink={shrink}; use 2 or more")
    use_compilation_cache()
    progress = listener_or(progress)
    together = _together(lanes)
    begun = time.perf_counter()
    active, running = np.arange(len(pupils)), enrol(course, pupils)
    everyone = running  # stale while all are running: the program reuses their memory
    records: list[dict[str, np.ndarray]] = []
    longest, out_of_time = max(pupil.steps for pupil in pupils), False
    done, solved = np.zeros((2, len(pupils)), bool)
    steps, compiled, before = np.zeros(len(pupils), np.int64), begun, 0
    while not done.all() and not out_of_time:
        if together and shrink * (~done[active]).sum() <= len(active):
            everyone = _put(everyone, active, running)
            keep = active[~done[active]]
            size = 1 << max(len(keep) - 1, 0).bit_length()
            active = np.concatenate([keep, active[done[active]]])[:size]
            running = _take(everyone, active)
        running, found = _advance(course, running, chunk, together)
        measured = jax.tree.map(lambda leaf: _spread(np.asarray(leaf), active, len(pupils)), found)  # noqa: B023
        records.append(measured)
        done[active], steps[active] = np.asarray(running.done), np.asarray(running.step)
        solved[active] = np.asarray(running.solved_at) >= 0
        if len(records) == 1:
            compiled, before = time.perf_counter(), int(steps.sum())
        out_of_time = seconds is not None and time.perf_counter() - compiled >= seconds
        if progress is not None:
            at = min(len(records) * chunk * course.every, longest)
            progress(Progress(1, 1, at, longest, len(pupils), int(solved.sum()), time.perf_counter() - begun))
    everyone = _put(everyone, active, running)
    history = _history(course, pupils, everyone, records)
    now = time.perf_counter()
    pace = (int(steps.sum()) - before) * course.batch / (now - compiled) if len(records) > 1 else float("nan")
    return Taught(history, everyone.model, everyone.secret, tuple(pupils), course, now - begun, pace, bool(done.all()))


def prepare(course: Course, pupils: Sequence[Pupil], lanes: str = "auto", chunk: int = CHUNK) -> None:
    """Compile what `teach` will run first into the on-disk cache: several threads may do so at once."""
    use_compilation_cache()
    _advance.lower(  # pyright: ignore[reportFunctionMemberAccess]
        course, enrol(course, pupils), chunk, _together(lanes)
    ).compile()


def _together(lanes: str) -> bool:
    require(lanes in ("auto", "together", "apart"), f"lanes are auto, together or apart: lanes={lanes!r}; use one")
    return jax.default_backend() != "cpu" if lanes == "auto" else lanes == "together"


def _history(course: Course, pupils: Sequence[Pupil], students: Student, records) -> History:
    metrics = {name: np.concatenate([record[name] for record in records], axis=1) for name in records[0]}
    kept = np.atleast_1d(np.isfinite(metrics["training_loss"]).any(axis=0))
    kept[0] = True  # everybody may have diverged at once
    steps = np.minimum(np.asarray(students.step), np.asarray(students.steps))
    return History(
        seeds=np.asarray([pupil.seed for pupil in pupils]),
        stage=np.ones(int(kept.sum()), int),
        step=(1 + np.flatnonzero(kept)) * course.every,
        metrics={name: values[:, kept] for name, values in metrics.items()},
        solved_at=np.asarray(students.solved_at),
        samples=steps.astype(np.int64) * course.batch,
        diverged=np.asarray(students.diverged),
        secrets=np.asarray(students.secret.mask),
    )


def _take(tree, index):
    return jax.tree.map(lambda leaf: leaf[index] if eqx.is_array(leaf) else leaf, tree)


def _put(everyone, index: np.ndarray, some):
    if len(index) == jax.tree.leaves(everyone)[0].shape[0]:
        return some
    return jax.tree.map(lambda a, b: a.at[index].set(b) if eqx.is_array(a) else a, everyone, some)


def _spread(leaf: np.ndarray, active: np.ndarray, pupils: int) -> np.ndarray:
    wide = np.full((pupils, *leaf.shape[1:]), np.nan, leaf.dtype)
    wide[active] = leaf
    return wide
