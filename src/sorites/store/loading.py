"""Members from their folders: all of one folder in a known structure, or one alone with its task and secret."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from ..errors import SpecError
from ..models import AbstractModel
from ..tasks import AbstractTask
from ..training import History, Run, Stage, Start, Until
from .folder import MODEL, SNAPSHOTS, TABLES, TASKS, Damaged, Folder
from .frames import history_from
from .gather import Kept, gather
from .rebuild import rebuild
from .spec import Description
from .weights import arrays_from, models_from, structure_from


@dataclasses.dataclass(frozen=True, eq=False)
class Loaded:
    """One stored member. `model, task, secret, history = store.load(id)` takes its first four fields."""

    model: AbstractModel
    task: AbstractTask
    secret: Any
    history: History  # of this member alone
    seed: int
    start: Start  # where a training that continues this one begins

    def __iter__(self) -> Iterator[Any]:
        return iter((self.model, self.task, self.secret, self.history))

    def continue_with(self, stages: Iterable[Stage], goal: Until | None = None) -> Run:
        """Return a run that trains this member further.

        Args:
            stages: what it goes through next. Task and supervision may differ from before.
            goal: as in `Run`.

        Returns:
            A run that starts from the member's weights and secret. Trained with the member's `seed`, it takes the next
            batches of the same data stream.
        """
        return Run(self.model, stages, goal, self.start)


def load(folder: Folder, structure: Any, snapshots: Sequence[int] = ()) -> Kept:
    """The members of a folder, their models in that structure; None: their histories alone."""
    contents = [folder.read(name) for name in (*TABLES, *([] if structure is None else [MODEL]))]
    stored, count = folder.read(SNAPSHOTS) if snapshots else b"", len(folder.ids)
    try:
        history = history_from(contents[0], contents[1], folder.meta["shapes"])
        models = None if structure is None else models_from(contents[2], structure, count)
        return Kept(history, models, {step: models_from(stored, structure, count, step) for step in snapshots})
    except (ValueError, KeyError, TypeError) as error:  # the bytes are right, so their writer was not
        raise Damaged(f"{folder.path} is damaged: {error}") from None


def load_member(folders: Sequence[Folder], id: str, seed: int | None, modules: Sequence[ModuleType] = ()) -> Loaded:
    """Load the member whose folder's id or own id begins with `id`."""
    folder, row = _place(folders, id, seed)
    member = folder.spec["members"][row]
    if not folder.has_models:
        raise SpecError(f"a member is loaded with its weights: {id} has none (it is no Run, or a history alone)")
    try:
        run = folder.spec["runs"][member["run"]]
        arrays = arrays_from(folder.read(TASKS)) if TASKS in folder.meta["files"] else {}
        task = rebuild(run["stages"][0]["task"], AbstractTask, arrays, modules)
        model = rebuild(run["model"], AbstractModel, {}, modules)
        before = _start(run.get("start"), arrays, modules)
        secret = secret_of(task, member["seed"]) if before is None else before.secret
        kept = load(folder, structure_from(model))
    except Damaged as damage:
        raise SpecError(f"{damage}; see `sorites runs check`") from None
    except SpecError:
        raise
    except Exception as error:  # an adopted spec may say anything
        reason = (str(error).splitlines() or [""])[0]
        raise SpecError(
            f"a stored run is made again from its spec: {folder.path} ({type(error).__name__}: {reason}); see "
            "`sorites runs show`"
        ) from error
    one = jax.tree.map(lambda leaf: leaf[row] if eqx.is_array(leaf) else leaf, kept.models)
    history = gather([(kept, row)]).history
    start = Start.after(secret, before, int(history.steps_taken()[0]), int(history.samples[0]))
    return Loaded(one, task, secret, history, member["seed"], start)


def _start(
    description: Description | None, arrays: dict[str, np.ndarray], modules: Sequence[ModuleType]
) -> Start | None:
    """Rebuild the start of a run from its fields; a description cannot name classes of the training itself."""
    if description is None:
        return None
    fields = {name: rebuild(description[name], Any, arrays, modules) for name in description if name != "kind"}
    return Start(**jax.tree.map(jnp.asarray, fields))


def goal_metric(folders: Sequence[Folder], id: str, seed: int | None) -> str:
    """The metric of the goal of the member that `load_member` loads; "" where its run has no goal."""
    folder, row = _place(folders, id, seed)
    goal = folder.spec["runs"][folder.spec["members"][row]["run"]].get("goal")
    return str(goal.get("metric", "")) if isinstance(goal, dict) else ""


def secret_of(task: AbstractTask, seed: int) -> Any:
    """What the member of that seed has to find: it follows from task and seed, so it is not stored."""
    return _drawn(task, np.asarray(seed, np.int64).astype(np.int32))  # as JAX takes a number that is too large


@eqx.filter_jit
def _drawn(task: AbstractTask, seed: Int[np.ndarray | Array, ""]) -> Any:
    """Draw the secret as `init_member` does; one program for every seed."""
    return task.draw(jax.random.split(jax.random.key(seed), 4)[0])


def _place(folders: Sequence[Folder], id: str, seed: int | None) -> tuple[Folder, int]:
    places = [
        (folder, row)
        for folder in folders
        for row, member in enumerate(folder.spec["members"])
        if id and (folder.path.name.startswith(id) or member["id"].startswith(id)) and seed in (None, member["seed"])
    ]
    places = list({folder.ids[row]: (folder, row) for folder, row in places}.values())  # stored twice is the same
    if len(places) == 1:
        return places[0]
    if not places:
        asked = "" if seed is None else f" with seed {seed}"
        raise SpecError(f"a member is named by an id: none begins {id!r}{asked}; see `sorites runs list`")
    few = ", ".join(f"{folder.ids[row]} (seed {folder.seeds[row]})" for folder, row in places[:4])
    raise SpecError(f"one member is loaded: {id!r} has {len(places)}, such as {few}; give a seed or a member's own id")
