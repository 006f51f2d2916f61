"""Making a figure: tables from the store, from recorded results, or measured now; then the picture."""

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..drawing import save, save_dark, style
from ..errors import SpecError
from ..papers import registry
from ..papers.figure import Figure, Frames
from ..store import Store
from ..store.origin import commit
from ..store.tables import read_about
from ..store.tables import read_tables as read_tables
from ..store.tables import write_tables as write_tables

PACKAGE = Path(__file__).resolve().parents[1]
RECORDED = "results/figures"


def results_folder() -> Path:
    """Recorded paper-scale measurements: beside the source in a checkout, inside the package when installed."""
    beside = PACKAGE.parents[1] / "results"
    return beside if beside.is_dir() else PACKAGE / "results"


def recorded(figure: Figure[Any], parameters: Any) -> Frames | None:
    """Read the figure's recorded tables.

    Args:
        figure: the figure.
        parameters: the parameters that they must have been measured with, as a dict. The code that measured them does
            not matter here: recorded tables are always drawn.

    Returns:
        The tables from results/, or from the paper's own folder of results; a second edition is called `NAME-quick`.
        None without recorded tables.
    """
    return next((found for _, found in _recordings(figure, parameters)), None)


def recorded_note(figure: Figure[Any], parameters: Any) -> str:
    """Say at which commit the figure's recorded tables were made, and whether with this code.

    Args:
        figure: the figure.
        parameters: its parameters, an instance of one of its sizes.

    Returns:
        One sentence for the caption; "" where nothing is known.
    """
    folder = next((place for place, _ in _recordings(figure, dataclasses.asdict(parameters))), None)
    about = {} if folder is None else read_about(folder)
    code = about.get("code")
    other = code is not None and code != registry.measuring_code(figure.measure, parameters)
    said = about.get("commit")
    commits = list(said.values()) if isinstance(said, dict) else [said]
    names = list(dict.fromkeys(each.rstrip("+")[:9] for each in commits if isinstance(each, str) and each))
    if not names and not other:
        return ""
    where = f" at commit{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else ""
    return f"Recorded{' with other code' if other else ''}{where}."


def _recordings(figure: Figure[Any], parameters: Any) -> Iterator[tuple[Path, Frames]]:
    paper = registry.papers().get(figure.paper)
    if paper is None or paper.module.startswith(f"{PACKAGE.name}."):
        folder = results_folder() / "figures" / figure.paper
    else:
        folder = paper.results_folder() / "figures"
    for name in (figure.name, f"{figure.name}-quick"):
        if (found := read_tables(folder / name, parameters)) is not None:
            yield folder / name, found


@dataclasses.dataclass(frozen=True)
class Made:
    """A figure on disk."""

    figure: Figure[Any]
    parameters: Any
    scale: str
    png: Path
    pdf: Path
    data: Path
    finding: str | None
    origin: str  # where the tables came from
    command: str
    dark: Path | None = None  # the same picture for a dark page
    note: str = ""  # how recorded tables were made

    @property
    def caption(self) -> str:
        """The figure's caption, and how its recorded tables were made."""
        return f"{self.figure.caption} {self.note}".strip()

    def record(self, relative_to: Path | None = None) -> dict[str, Any]:
        """As the page wants it; links are relative to the page's folder."""

        def link(path: Path) -> str:
            return os.path.relpath(path, relative_to) if relative_to else str(path)

        return {
            "id": self.figure.id,
            "title": self.figure.title,
            "caption": self.caption,
            "finding": self.finding,
            "command": self.command,
            "png": self.png,
            "dark": self.dark,
            "pdf": link(self.pdf),
            "data": link(self.data),
            "seeds": getattr(self.parameters, "seeds", 0),
            "scale": self.scale,
            "claims": list(self.figure.claims),
        }


def make_figure(
    figure: Figure[Any], parameters: Any, scale: str, store: Store, out: Path, command: str, dark: bool = False
) -> Made:
    """PNG, PDF and Parquet under `out`, named by figure and scale, from tables that are measured at most once per
    source and parameters; dark: a second PNG for a dark page."""
    frames, origin = tables(figure, parameters, scale, store)
    with style():
        picture = figure.draw(frames, parameters)
    metadata = {
        "Title": f"{figure.id}: {figure.title}",
        "spec": table_key(figure, parameters),
        "commit": commit() or "unknown",
        "seeds": str(getattr(parameters, "seeds", 0)),
        "parameters": json.dumps(dataclasses.asdict(parameters)),
        "origin": origin,
    }
    folder, stem = out / figure.paper, f"{figure.name}-{scale}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        png, pdf = save(picture, folder, stem, metadata)
        for name, frame in frames.items():
            frame.write_parquet(folder / (f"{stem}.parquet" if name == "data" else f"{stem}-{name}.parquet"))
        night = save_dark(picture, folder, stem, metadata) if dark else None
    except OSError as error:
        raise SpecError(
            f"figures are written under --out: {folder} ({error.strerror}); choose a folder you can write to"
        ) from None
    finding = figure.find(frames, parameters) if figure.find else None
    note = recorded_note(figure, parameters) if origin.startswith(RECORDED) else ""
    return Made(figure, parameters, scale, png, pdf, folder / f"{stem}.parquet", finding, origin, command, night, note)


def table_key(figure: Figure[Any], parameters: Any) -> str:
    code = registry.measuring_code(figure.measure, parameters)
    spec = json.dumps([figure.id, dataclasses.asdict(parameters), code], sort_keys=True)
    return hashlib.sha256(spec.encode()).hexdigest()[:16]


def tables(figure: Figure[Any], parameters: Any, scale: str, store: Store) -> tuple[Frames, str]:
    """The figure's tables and where they came from."""
    place = store.figure_folder(figure.paper, figure.name, table_key(figure, parameters))
    found = read_tables(place)
    if found is not None:
        return found, "store"
    if (scale == "paper" or figure.apart) and (found := recorded(figure, dataclasses.asdict(parameters))) is not None:
        return found, f"{RECORDED}/{figure.id}"
    frames = figure.measure(parameters, store)
    code = registry.measuring_code(figure.measure, parameters)
    write_tables(place, frames, dataclasses.asdict(parameters), code)
    return frames, "measured now"
