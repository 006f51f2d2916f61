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
import jax
import jax.numpy as jnp

from ..errors import require
from ..training import History, Progress, Run, Trained, train
from ..training.ensemble import LARGE
from .folder import MODEL, TABLES, Damaged, Folder, open_aside, read_folder, settle, write_aside
from .frames import history_bytes, history_from, members_bytes, require_packages, shapes
from .gather import Kept, Place, gather
from .identity import Identity, identities, spec_record
from .provenance import provenance
from .verdicts import Record, put_verdict, safe, verdicts
from .weights import models_bytes, models_from, structure_of

GROUP = 64  # members per folder: what a kill can cost
FEW = 8  # the same for large models, which train for longer


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
        group: int | None = None,
    ) -> Trained:
        """As `sorites.training.train`, but only the members that are not stored yet, a group at a time."""
        require(len(seeds) > 0, "an ensemble needs at least one seed: seeds=0; use 1 or more")
        each = [runs] * len(seeds) if isinstance(runs, Run) else list(runs)
        _require_alike(each)
        group = group if group is not None else (FEW if each[0].model.weights_count > LARGE else GROUP)

        def missing(places: list[int]) -> Kept:
            chosen = [each[place] for place in places]
            one = all(run is chosen[0] for run in chosen)
            trained = train(chosen[0] if one else chosen, [seeds[place] for place in places], lanes, progress=progress)
            return Kept(trained.history, trained.models)

        kept = self._complete(identities(runs, seeds), group, missing, lambda: structure_of(each[0]))
        return Trained(kept.history, kept.models, _secrets(each, seeds))

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
        group: int,
        missing: Callable[[list[int]], Kept],
        structure: Callable[[], Any],
    ) -> Kept:
        """All members in that order: the stored ones, and group by group the others, by their places."""
        require(group >= 1, f"a group has at least one member: group={group}; use 1 or more")
        require_packages()
        found = self._load({member.id for member in members}, structure)
        absent = {member.id: place for place, member in enumerate(members) if member.id not in found}
        for places in _even(list(absent.values()), group):
            open_aside(self.root, "probe").rmdir()  # a store that cannot be written says so before the training
            begun, chosen = time.perf_counter(), [members[place] for place in places]
            kept = missing(places)
            self._write(chosen, kept, time.perf_counter() - begun)
            found |= {member.id: (kept, row) for row, member in enumerate(chosen)}
        return gather([found[member.id] for member in members])

    def _load(self, wanted: set[str], structure: Callable[[], Any]) -> dict[str, Place]:
        """The stored members among those wanted; what is damaged counts as not stored."""
        known = {each for folder in self._known.values() if folder.has_models for each in folder.ids}
        folders = list(self._known.values()) if wanted <= known else self.folders()
        found: dict[str, Place] = {}
        for folder in folders:
            if not folder.has_models or not (wanted - set(found)) & set(folder.ids):
                continue
            try:
                kept = load(folder, structure())
            except Damaged as damage:
                self._distrust(folder.path, damage)
                continue
            found |= {each: (kept, row) for row, each in enumerate(folder.ids) if each not in found}
        return found

    def _write(self, members: list[Identity], kept: Kept, seconds: float) -> None:
        ids = [member.id for member in members]
        extra, tables = tables_of(ids, kept.history)
        tables[MODEL] = models_bytes(kept.models)
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


def load(folder: Folder, structure: Any) -> Kept:
    """The members of a folder, their models in that structure."""
    contents = [folder.read(name) for name in (*TABLES, MODEL)]
    try:
        history = history_from(contents[0], contents[1], folder.meta["shapes"])
        return Kept(history, models_from(contents[2], structure, len(folder.ids)))
    except (ValueError, KeyError, TypeError) as error:  # the bytes are right, so their writer was not
        raise Damaged(f"{folder.path} is damaged: {error}") from None


def _secrets(runs: list[Run], seeds: Sequence[int]) -> Any:
    """What each member had to find: it follows from run and seed, so it is not stored."""
    drawn = [run.task.draw(jax.random.split(jax.random.key(seed), 4)[0]) for run, seed in zip(runs, seeds, strict=True)]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *drawn)


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
