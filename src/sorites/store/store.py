"""The store: what was trained is never trained again, and nothing stored is ever changed."""

import contextlib
import os
import shutil
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from ..errors import require
from ..runtime.devices import LARGE, LARGE_MEMBERS
from ..training import Checkpoint, History, Run, Trained, train
from ..training.contracts import unchecked
from ..training.progress import Listener
from ..training.reports import Callback
from ..training.seeds import members_of
from .folder import (
    ARRAYS,
    MODEL,
    SNAPSHOTS,
    TASKS,
    Damaged,
    Folder,
    folder_name,
    open_aside,
    read_folder,
    settle,
    write_aside,
)
from .frames import require_packages, tables_of
from .gather import Kept, Place, gather
from .groups import MEMBERS, distinct, require_alike, secrets_of, split_evenly
from .identity import Identity, identities, kept_identity, spec_record
from .loading import Loaded, load, load_member
from .origin import provenance
from .reservation import reserved
from .spec import describe, large_arrays
from .verdicts import Record, put_verdict, safe, verdicts
from .weights import (
    arrays_bytes,
    arrays_from,
    models_bytes,
    named_leaves,
    snapshots_bytes,
    structure_of,
    with_leaves,
)

S = TypeVar("S")


def default_root() -> Path:
    """$SORITES_STORE, else ./sorites-store."""
    return Path(os.environ.get("SORITES_STORE") or "sorites-store")


class Store:
    """Folders of members under `root`; the index is read off them."""

    def __init__(self, root: str | Path | None = None):
        self.root = default_root() if root is None else Path(root)
        self._known: dict[Path, Folder] = {}
        self._damaged: set[Path] = set()
        self.trained = self.taken = 0  # members since it was opened: made here, and found here

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def train(
        self,
        runs: Run | Sequence[Run],
        seeds: Sequence[int],
        strategy: str = "auto",
        progress: Listener | bool | None = None,
        group: int | None = None,
        snapshots: Sequence[int] = (),
        callback: Callback | None = None,
    ) -> Trained:
        """Train the members that are not stored yet, a group at a time, and load the others.

        Args:
            runs: as for `so.train`.
            seeds: as for `so.train`.
            strategy: as for `so.train`.
            progress: as for `so.train`, for each group.
            group: members that are trained and stored together.
            snapshots: as for `so.train`.
            callback: as for `so.train`, for each group: its steps begin at 0, and its `members` are those of the group.
                Stored members are not reported.

        Returns:
            All members, in the order of the seeds. A group that was killed resumes from its checkpoint.

        Raises:
            SpecError: where `so.train` refuses, or the store cannot be written.
        """
        each, seeds = members_of(runs, seeds, distinct=False)
        require_alike(each)
        group = group if group is not None else (LARGE_MEMBERS if each[0].model.weights_count > LARGE else MEMBERS)

        def missing(places: list[int], name: str) -> Kept:
            chosen = [each[place] for place in places]
            one = all(run is chosen[0] for run in chosen)
            trained = train(
                chosen[0] if one else chosen,
                [seeds[place] for place in places],
                strategy,
                progress=progress,
                snapshots=snapshots,
                checkpoint=self._checkpoint(name),
                callback=callback,
            )
            return Kept(trained.history, trained.models, trained.snapshots)

        members = identities(runs, seeds)
        kept = self._complete(members, each, group, missing, tuple(snapshots))
        starts = [run.start for run in each]
        return Trained(kept.history, kept.models, secrets_of(each, seeds), starts, snapshots=kept.snapshots)

    def histories(
        self,
        runs: Run | Sequence[Run],
        seeds: Sequence[int],
        strategy: str = "auto",
        progress: Listener | bool | None = None,
        weights: bool = False,
    ) -> History:
        """As `train`, all missing members as one group, for who asks for histories alone; `weights` stores them too.
        What is stored without weights is enough here, and `train` does not count it as stored."""
        each, seeds = members_of(runs, seeds, distinct=False)
        require_alike(each)

        def missing(places: list[int], name: str) -> Kept:
            chosen, numbers = [each[place] for place in places], [seeds[place] for place in places]
            trained = train(chosen, numbers, strategy, progress=progress, checkpoint=self._checkpoint(name))
            return Kept(trained.history, trained.models if weights else None, {})

        return self._complete(identities(runs, seeds), each, len(seeds), missing, (), weights).history

    def put(
        self, runs: Sequence[Run], seeds: Sequence[int], history: History, models: Any = None, seconds: float = 0.0
    ) -> None:
        """Store an ensemble that was trained where this store cannot be seen."""
        require_packages()
        self._write(identities(runs, seeds), list(runs), Kept(history, models, {}), seconds)
        self.trained += len(seeds)

    def seconds(self, ids: Sequence[str]) -> list[float | None]:
        """How long each of these members took: its share of its folder's time; None where nobody knows."""
        shares: dict[str, float | None] = {}
        for folder in self._known.values():
            taken = folder.meta.get("seconds")
            shares |= dict.fromkeys(folder.ids, None if taken is None else taken / len(folder.ids))
        return [shares.get(each) for each in ids]

    def keep(self, spec: S, make: Callable[[S], Any], like: Any = None) -> Any:
        """`make(spec)`, made once: what learns and is no Run. See `sorites.training.Lab`."""
        description = {"kind": "kept", "spec": describe(spec), "make": describe(make)}
        member = kept_identity(description, (spec, make))
        require_packages()
        with reserved(self.root, [member.id]):
            found = self._arrays(member.id)
            if found is None:
                begun, made = time.perf_counter(), make(spec)
                arrays = made if like is None else named_leaves(made)
                arrays = {name: np.asarray(values) for name, values in arrays.items()}
                meta = {**provenance(time.perf_counter() - begun), "code": dict(member.code)}
                aside = write_aside(self.root, spec_record([member]), meta, {ARRAYS: arrays_bytes(arrays)})
                path = settle(self.root, aside)
                self._known[path], self.trained = read_folder(path), self.trained + 1
                found = arrays
            else:
                self.taken += 1
        return found if like is None else with_leaves(like, found)

    def _arrays(self, id: str) -> dict[str, np.ndarray] | None:
        for folder in self.folders():
            if id in folder.ids and ARRAYS in folder.meta["files"]:
                try:
                    return arrays_from(folder.read(ARRAYS))
                except Damaged as damage:
                    self._distrust(folder.path, damage)
        return None

    def load(self, id: str, seed: int | None = None, modules: Sequence[ModuleType] = ()) -> Loaded:
        """Load one stored member.

        Args:
            id: the id of the member or of its folder, or its first digits.
            seed: which member, where the id names several.
            modules: modules of your own that define the task or the model. A stored spec may name the classes of
                sorites and of these modules, and nothing else.

        Returns:
            The model, the task, the secret and the history of the member.

        Raises:
            SpecError: where no member, or more than one, has that id, or the spec names a class that is not allowed.
        """
        require_packages()
        return load_member(self.folders(), id, seed, modules)

    def find(self, runs: Run | Sequence[Run], seeds: Sequence[int]) -> list[Path | None]:
        """For each seed the folder that holds its member, or None."""
        folders = [folder for folder in self.folders() if folder.has_models]
        where = {each: folder.path for folder in reversed(folders) for each in folder.ids}
        return [where.get(member.id) for member in identities(runs, seeds)]

    def folders(self) -> list[Folder]:
        """Every sound folder; a damaged one is passed over with one warning and stays where it is."""
        try:
            paths = sorted(path for path in (self.root / "members").iterdir() if path.is_dir())
        except OSError:  # no store yet, or none that can be read: nothing is stored
            paths = []
        self._known = {path: self._known[path] for path in paths if path in self._known}
        self._damaged &= set(paths)
        for path in paths:
            if path not in self._known and path not in self._damaged:
                try:
                    self._known[path] = read_folder(path)
                except Damaged as damage:
                    self._distrust(path, damage)
        return [self._known[path] for path in paths if path in self._known]

    def put_verdict(self, record: Record) -> Path:
        """Add a verdict, a plain dict with the claim's `id`; earlier ones stay."""
        return put_verdict(self.root, record)

    def verdicts(self) -> list[Record]:
        """Every verdict ever stored, oldest first."""
        return verdicts(self.root)

    def last_verdict(self, claim: str) -> Record | None:
        """The newest verdict on a claim."""
        return next(reversed(verdicts(self.root, safe(claim))), None)

    def figure_folder(self, slug: str, name: str, key: str) -> Path:
        """The place of a figure and its data; there once whoever draws it has made it."""
        return self.root / "figures" / safe(slug) / safe(name) / safe(key)

    def _complete(
        self,
        members: list[Identity],
        runs: list[Run],
        group: int,
        missing: Callable[[list[int], str], Kept],
        snapshots: tuple[int, ...],
        weights: bool = True,
    ) -> Kept:
        """All members in that order: the stored ones, and group by group the others, by their places."""
        require(group >= 1, f"a group has at least one member: group={group}; use 1 or more")
        require_packages()
        found = self._load({member.id for member in members}, runs[0], snapshots, weights)
        self._drop_noted(set(found), snapshots, weights)
        self.taken += len(found)
        absent = {member.id: place for place, member in enumerate(members) if member.id not in found}
        for places in split_evenly(list(absent.values()), group):
            open_aside(self.root, "probe").rmdir()  # a store that cannot be written says so before the training
            with reserved(self.root, [members[place].id for place in places]):
                mine = {members[place].id for place in places}
                there = self._load(mine, runs[0], snapshots, weights)  # stored by another process meanwhile
                found, self.taken = found | there, self.taken + len(there)
                places = [place for place in places if members[place].id not in there]
                if not places:
                    continue
                begun, chosen = time.perf_counter(), [members[place] for place in places]
                name = folder_name([member.id for member in chosen])
                kept = missing(places, name)
                self._write(chosen, [runs[place] for place in places], kept, time.perf_counter() - begun)
                self._checkpoint(name).drop()
            self.trained += len(places)
            found |= {member.id: (kept, row) for row, member in enumerate(chosen)}
        return gather([found[member.id] for member in members])

    def _checkpoint(self, name: str) -> Checkpoint:
        return Checkpoint(self.root / "checkpoints" / f"{name}.npz", name)

    def _drop_noted(self, ids: set[str], snapshots: tuple[int, ...], weights: bool) -> None:
        """Checkpoints older than their group, which is stored: a kill may come between the write and the drop."""
        noted = list((self.root / "checkpoints").glob("*"))
        for folder in self._known.values() if noted else ():
            if not (folder.holds(snapshots, weights) and ids.issuperset(folder.ids)):
                continue
            name, stored = folder.path.name.split("-")[0], folder.path.stat().st_mtime_ns
            for path in noted:
                with contextlib.suppress(FileNotFoundError):  # somebody else's, by now
                    if path.name.split(".")[0] == name and path.stat().st_mtime_ns <= stored:
                        path.unlink()

    def _load(self, wanted: set[str], run: Run, snapshots: tuple[int, ...], weights: bool = True) -> dict[str, Place]:
        """The stored members among those wanted; what is damaged counts as not stored."""
        known = {each for folder in self._known.values() if folder.holds(snapshots, weights) for each in folder.ids}
        folders = list(self._known.values()) if wanted <= known else self.folders()
        found: dict[str, Place] = {}
        for folder in folders:
            if not folder.holds(snapshots, weights) or not (wanted - set(found)) & set(folder.ids):
                continue
            try:
                kept = load(folder, structure_of(run) if weights else None, snapshots)
            except Damaged as damage:
                self._distrust(folder.path, damage)
                continue
            found |= {each: (kept, row) for row, each in enumerate(folder.ids) if each not in found and each in wanted}
        return found

    def _write(self, members: list[Identity], runs: list[Run], kept: Kept, seconds: float) -> None:
        ids = [member.id for member in members]
        extra, tables = tables_of(ids, kept.history)
        weights = kept.models is not None
        if weights:
            tables[MODEL] = models_bytes(kept.models)
        if kept.snapshots:
            extra["snapshots"], tables[SNAPSHOTS] = sorted(kept.snapshots), snapshots_bytes(kept.snapshots)
        if arrays := large_arrays([(run.start, [stage.task for stage in run.stages]) for run in distinct(runs)]):
            tables[TASKS] = arrays_bytes(arrays)
        closures = {id(member.code): member.code for member in members}.values()
        code = {name: digest for closure in closures for name, digest in closure.items()}
        tasks = [stage.task for run in distinct(runs) for stage in run.stages]
        skipped = unchecked(*[run.model for run in distinct(runs)], *tasks)
        meta = {**provenance(seconds), "code": code, **extra, **({"unchecked": skipped} if skipped else {})}
        aside = write_aside(self.root, spec_record(members), meta, tables)
        sound = [folder for folder in self.folders() if folder.holds(list(kept.snapshots), weights)]
        if {each for folder in sound for each in folder.ids} >= set(ids):
            shutil.rmtree(aside)  # another process was faster
            return
        path = settle(self.root, aside)
        self._known[path] = read_folder(path)

    def _distrust(self, path: Path, damage: Damaged) -> None:
        self._known.pop(path, None)
        self._damaged.add(path)
        warnings.warn(f"{damage}; its members count as not stored: see `sorites runs check`", stacklevel=4)
