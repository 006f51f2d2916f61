"""The store: what was trained is never trained again, and nothing stored is ever changed."""

import itertools
import os
import shutil
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx

from ..errors import require
from ..training import History, Progress, Run, Trained, train
from .folder import MODEL, TABLES, Damaged, Folder, open_aside, read_folder, settle, write_aside
from .frames import history_bytes, history_from, members_bytes, require_packages, shapes
from .gather import Place, gather
from .identity import Identity, identities, spec_record
from .provenance import provenance
from .verdicts import Record, put_verdict, safe, verdicts
from .weights import models_bytes, models_from

GROUP = 64  # members per folder: what a kill can cost


def default_root() -> Path:
    """$SORITES_STORE, else ./sorites-store."""
    return Path(os.environ.get("SORITES_STORE") or "sorites-store")


class Store:
    """Folders of members under `root`; the index is read off them."""

    def __init__(self, root: str | Path | None = None):
        self.root = default_root() if root is None else Path(root)
        self._known: dict[Path, Folder] = {}
        self._damaged: set[Path] = set()

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def train(
        self,
        runs: Run | Sequence[Run],
        seeds: Sequence[int],
        lanes: str = "auto",
        progress: Callable[[Progress], None] | None = None,
        group: int = GROUP,
    ) -> Trained:
        """As `sorites.training.train`, but only the members that are not stored yet, a group at a time."""
        require(len(seeds) > 0, "an ensemble needs at least one seed: seeds=0; use 1 or more")
        require(group >= 1, f"a group has at least one member: group={group}; use 1 or more")
        require_packages()
        members = identities(runs, seeds)
        each = [runs] * len(seeds) if isinstance(runs, Run) else list(runs)
        _require_alike(each)
        found = self._load({member.id for member in members}, each[0])
        missing = {member.id: place for place, member in enumerate(members) if member.id not in found}
        for places in _even(list(missing.values()), group):
            chosen = [members[place] for place in places]
            found |= self._train_group(chosen, [each[place] for place in places], lanes, progress)
        return gather([found[member.id] for member in members])

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

    def _load(self, wanted: set[str], run: Run) -> dict[str, Place]:
        """The stored members among those wanted; what is damaged counts as not stored."""
        known = {each for folder in self._known.values() if folder.has_models for each in folder.ids}
        folders = list(self._known.values()) if wanted <= known else self.folders()
        found: dict[str, Place] = {}
        for folder in folders:
            if not folder.has_models or not (wanted - set(found)) & set(folder.ids):
                continue
            try:
                trained = load(folder, run)
            except Damaged as damage:
                self._distrust(folder.path, damage)
                continue
            found |= {each: (trained, row) for row, each in enumerate(folder.ids) if each not in found}
        return found

    def _train_group(
        self, members: list[Identity], runs: list[Run], lanes: str, progress: Callable | None
    ) -> dict[str, Place]:
        open_aside(self.root, "probe").rmdir()  # a store that cannot be written says so before the training
        begun = time.perf_counter()
        one = all(run is runs[0] for run in runs)
        trained = train(runs[0] if one else runs, [member.seed for member in members], lanes, progress)
        self._write(members, trained, time.perf_counter() - begun)
        return {member.id: (trained, row) for row, member in enumerate(members)}

    def _write(self, members: list[Identity], trained: Trained, seconds: float) -> None:
        ids = [member.id for member in members]
        extra, tables = tables_of(ids, trained.history)
        tables[MODEL] = models_bytes(trained.models)
        aside = write_aside(self.root, spec_record(members), {**provenance(seconds), **extra}, tables)
        if {each for folder in self.folders() if folder.has_models for each in folder.ids} >= set(ids):
            shutil.rmtree(aside)  # another process was faster
            return
        path = settle(self.root, aside)
        self._known[path] = read_folder(path)

    def _distrust(self, path: Path, damage: Damaged) -> None:
        self._known.pop(path, None)
        self._damaged.add(path)
        warnings.warn(f"{damage}; its members count as not stored: see `sorites runs check`", stacklevel=4)


def tables_of(ids: list[str], history: History) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What a folder keeps of a history: its part of meta.json, and its tables."""
    meta = {"shapes": shapes(history), "solved": int((history.solved_at >= 0).sum())}
    return meta, dict(zip(TABLES, (history_bytes(ids, history), members_bytes(ids, history)), strict=True))


def load(folder: Folder, run: Run) -> Trained:
    """The members of a folder, rebuilt in the structure of their run."""
    contents = [folder.read(name) for name in (*TABLES, MODEL)]
    try:
        history = history_from(contents[0], contents[1], folder.meta["shapes"])
        return Trained(history, models_from(contents[2], run, len(folder.ids)))
    except (ValueError, KeyError, TypeError) as error:  # the bytes are right, so their writer was not
        raise Damaged(f"{folder.path} is damaged: {error}") from None


def _require_alike(runs: list[Run]) -> None:
    """The ensemble's own rule, needed here because stored members never reach it."""
    distinct = list({id(run): run for run in runs}.values())
    static = [eqx.filter(run, eqx.is_array_like, inverse=True) for run in distinct]
    require(
        all(eqx.tree_equal(other, static[0]) is True for other in static[1:]),
        "the runs of one ensemble differ in arrays only (rates, weights, masks); train the others apart",
    )


def _even(places: list[int], group: int) -> list[list[int]]:
    """Groups of at most that many, as equal as can be: a group of another size is another program."""
    count = -(-len(places) // group)
    ends = [len(places) * index // count for index in range(count + 1)] if count else [0]
    return [places[start:end] for start, end in itertools.pairwise(ends)]
