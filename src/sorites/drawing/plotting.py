"""One look for every figure, drawn without pyplot: no global figure list, no display, safe in threads."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, SupportsFloat

import matplotlib
import numpy as np
from cycler import cycler
from jaxtyping import Num
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..atomic import atomic_write

COLOURS = {  # Okabe & Ito; yellow last, for it is faint on white
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "black": "#000000",
    "yellow": "#F0E442",
}
QUIET = "#6B6B66"  # ink of what should not compete with the data
BAND = (0.1, 0.9)
PDF_KEYS = ("Title", "Author", "Subject", "Keywords", "Creator")  # the format allows no others
LOOK: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlepad": 16,  # leaves room for the stage labels above the frame
    "axes.labelsize": 10,
    "axes.edgecolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=list(COLOURS.values())),
    "grid.color": "#E4E3DE",
    "grid.linewidth": 0.6,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "image.cmap": "cividis",  # reads the same to colour-blind eyes
    "figure.dpi": 160,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.1,  # inches: on a dark page the white frame needs a margin
    "figure.constrained_layout.w_pad": 0.1,
    "pdf.fonttype": 42,  # text stays text
}
_LOOKING = threading.RLock()  # matplotlib's settings are global: one thread draws at a time


@contextmanager
def style() -> Iterator[None]:
    """The look of every figure while the block lasts; other threads wait for their turn."""
    with _LOOKING, matplotlib.rc_context(LOOK):
        yield


def new_figure(width: int | float = 6.4, height: int | float = 4.0) -> Figure:
    """An empty figure in inches, drawn by Agg; make it, and fill it, inside `style()`."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def band(
    ax: Axes,
    x: Num[np.ndarray, " x"],
    values: Num[np.ndarray, "member x"],
    label: str | None = None,
    colour: str | None = None,
) -> Line2D:
    """Median over members and the band from 10 to 90 %; NaN is a member that was not measured there."""
    x, values = np.asarray(x, float), np.asarray(values, float)
    low, middle, high = np.full((3, x.size), np.nan)
    seen = ~np.isnan(values).all(axis=0)
    if seen.any():
        with np.errstate(invalid="ignore"):  # between two diverged members the interpolation is inf - inf
            low[seen], middle[seen], high[seen] = np.nanquantile(values[:, seen], (BAND[0], 0.5, BAND[1]), axis=0)
    (line,) = ax.plot(x, middle, label=label, color=COLOURS.get(colour or "", colour))
    ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    return line


def stage_lines(ax: Axes, steps: Iterable[SupportsFloat]) -> None:
    """A dashed line where each stage after the first begins, its number above the frame."""
    starts = [float(step) for step in steps]
    word = "stage " if len(starts) < 7 else ""  # more words than that would touch
    text: dict[str, Any] = {"fontsize": 8, "color": QUIET, "ha": "left", "va": "bottom"}
    ax.text(0.0, 1.01, f"{word}1", transform=ax.transAxes, **text)
    for stage, step in enumerate(starts, start=2):
        ax.axvline(step, color=QUIET, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        ax.text(step, 1.01, f"{word}{stage}", transform=ax.get_xaxis_transform(), **text)


def save(figure: Figure, folder: Path | str, name: str, metadata: Mapping[str, str]) -> tuple[Path, Path]:
    """Write `name`.png and `name`.pdf, each whole or absent, with the same metadata.

    A PNG carries every entry as a text chunk. A PDF has five fields: entries of other names (spec, commit,
    seeds) are put into its keywords, and into its subject where none is given. No dates: the same figure
    is the same file. Afterwards the figure keeps the places that its layout found.
    """
    written = []
    for kind, fields in (("png", dict(metadata)), ("pdf", pdf_metadata(metadata))):
        path = Path(folder) / f"{name}.{kind}"
        with atomic_write(path) as draft, style():
            figure.savefig(draft, format=kind, dpi=figure.dpi, facecolor="white", metadata=fields)
        figure.set_layout_engine("none")  # the places are found, and finding them takes as long as drawing
        written.append(path)
    png, pdf = written
    return png, pdf


def pdf_metadata(metadata: Mapping[str, str]) -> dict[str, str | None]:
    """The entries as the five fields a PDF has."""
    fields: dict[str, str | None] = {key: metadata[key] for key in PDF_KEYS if key in metadata}
    others = "; ".join(f"{key}={value}" for key, value in metadata.items() if key not in PDF_KEYS)
    if others:
        fields["Keywords"] = "; ".join(filter(None, (fields.get("Keywords"), others)))
        fields.setdefault("Subject", others)
    return {**fields, "CreationDate": None}
