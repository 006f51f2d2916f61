"""What is in a store: a list, one run, and the difference of two."""

import difflib
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SpecError
from .folder import TABLES, Damaged, Folder
from .spec import Description
from .store import Store

if TYPE_CHECKING:
    import polars

NAMED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")  # a function in a description


def list_runs(store: Store) -> "polars.DataFrame":
    """One row per folder, newest last."""
    import polars as pl

    schema = {
        "id": pl.String,
        "task": pl.String,
        "model": pl.String,
        "stages": pl.Int64,
        "seeds": pl.String,
        "members": pl.Int64,
        "solved": pl.Int64,
        "created": pl.String,
        "seconds": pl.Float64,
    }
    rows = [_row(folder) for folder in store.folders()]
    return pl.DataFrame(rows, schema=schema, orient="row").sort("created", nulls_last=False)


def _row(folder: Folder) -> tuple:
    kinds = {"solved": int, "created": str, "seconds": int | float}  # meta.json may have been written by anybody
    said = [value if isinstance(value := folder.meta.get(name), kind) else None for name, kind in kinds.items()]
    return (folder.path.name, *_told(folder.spec["runs"]), _ranges(folder.seeds), len(folder.ids), *said)


def _told(runs: list[Description]) -> tuple[str | None, str | None, int | None]:
    """Task, model and number of stages of the first run; an adopted history may not say."""
    try:
        if runs[0].get("kind") == "kept":  # no Run
            return words(runs[0]["spec"]), runs[0]["make"].rpartition(":")[2].strip("_"), None
        stages, model = runs[0]["stages"], runs[0]["model"]
        return words(stages[0]["task"]), model["kind"].rpartition(".")[2], len(stages)
    except (IndexError, KeyError, TypeError, AttributeError):
        return None, None, None


def words(description: Description) -> str:
    """A description in one line: `Boolean(bits=6, sparsity=4)`; large arrays by their shape."""
    if isinstance(description, list):
        return "(" + ", ".join(map(words, description)) + ")"
    if isinstance(description, str) and NAMED.fullmatch(description):
        return description.rpartition(":")[2]  # a function
    if not isinstance(description, dict):
        return f"{description:.6g}" if isinstance(description, float) else str(description)
    if "array" in description:
        try:
            shape = np.shape(description["array"])
        except ValueError:  # adopted from somewhere: rows of different lengths
            return words(description["array"])
        few = len(shape) < 2 and np.size(description["array"]) <= 8
        return words(description["array"]) if few else "×".join(map(str, shape))
    if isinstance(description.get("shape"), list) and "sha256" in description:
        return "×".join(map(str, description["shape"]))
    kind = str(description.get("kind", "dict")).rpartition(".")[2]
    fields = ", ".join(f"{name}={words(value)}" for name, value in description.items() if name != "kind")
    return f"{kind}({fields})" if fields else kind


def show_run(store: Store, prefix: str) -> dict[str, Any]:
    """Everything that is known about a folder except its histories and tensors."""
    folder = resolve(store, prefix)
    found = {"id": folder.path.name, "path": str(folder.path), **folder.spec, "meta": folder.meta}
    return found | ({"outcomes": _outcomes(folder)} if folder.has_tables else {})


def _outcomes(folder: Folder) -> list[dict[str, Any]]:
    """How each member ended: one row with the last value of every metric."""
    import io

    import polars as pl

    try:
        history, members = (pl.read_parquet(io.BytesIO(folder.read(name))) for name in TABLES)
    except Damaged as damage:
        raise SpecError(f"{damage}; see `sorites runs check`") from None
    skipped = ("seed", "stage", "step")
    metrics = [name for name in history.columns if name not in ("member", *skipped)]
    last = history.group_by("member", maintain_order=True).agg(pl.col(metrics).drop_nulls().drop_nans().last())
    return members.drop("secret", strict=False).join(last, on="member", how="left").to_dicts()


def diff_runs(store: Store, first: str, second: str) -> list[tuple[str, Any, Any]]:
    """(path, value, value) wherever two folders' specs differ; None: not there, so the default holds."""
    sides = [_flat(resolve(store, prefix)) for prefix in (first, second)]
    paths = sorted({*sides[0], *sides[1]})
    rows = [(path, sides[0].get(path), sides[1].get(path)) for path in paths]
    return [row for row in rows if json.dumps(row[1]) != json.dumps(row[2])]


def _flat(folder: Folder) -> dict[str, Any]:
    flat: dict[str, Any] = {"seeds": _ranges(folder.seeds)}

    def walk(path: str, value: Description) -> None:
        if isinstance(value, dict) and "array" not in value:
            for name, each in value.items():
                walk(f"{path}.{name}" if path else name, each)
        elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
            for index, each in enumerate(value):
                walk(f"{path}.{index}" if path else str(index), each)
        else:
            flat[path] = value["array"] if isinstance(value, dict) else value

    runs = folder.spec["runs"]
    walk("", runs[0] if len(runs) == 1 else runs)
    return flat


def resolve(store: Store, prefix: str) -> Folder:
    """The folder whose id begins so; an unknown one suggests the nearest."""
    folders = {folder.path.name: folder for folder in store.folders()}
    if prefix in folders:
        return folders[prefix]
    matches = [name for name in folders if prefix and name.startswith(prefix)]
    if len(matches) == 1:
        return folders[matches[0]]
    if matches:
        raise SpecError(f"an id prefix names one run: {prefix!r} begins {', '.join(matches)}; give more of it")
    nearest = difflib.get_close_matches(prefix, folders, 1, 0)
    remedy = f"did you mean {nearest[0]}?" if nearest else "the store is empty; train something first"
    raise SpecError(f"a run is named by the beginning of its id: no run begins {prefix!r}; {remedy}")


def _ranges(seeds: list[int]) -> str:
    """0, 1, 2, 5 -> `0-2, 5`."""
    spans: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if spans and seed == spans[-1][1] + 1:
            spans[-1][1] = seed
        else:
            spans.append([seed, seed])
    return ", ".join(str(start) if start == end else f"{start}-{end}" for start, end in spans)
