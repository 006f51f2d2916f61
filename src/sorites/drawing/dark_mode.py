"""The same figure for a dark page: ink and ground change places, hues stay, and a heat map keeps its colours."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection
from matplotlib.colors import Colormap, ListedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from ..atomic import atomic_write
from .plotting import LOOK, style

GROUND = "#16181A"  # the page's own
LISTED = 10  # a colour map of at most so many colours names states; a longer one is a scale and stays
# Oklab: lightness that eyes agree on, and two axes of hue
TO_CONES = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
TO_LAB = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
LIGHT, MIDDLE, DARK, COLOURLESS = 0.8, 0.6, 0.35, 0.08


def dark(colour: Any) -> tuple[float, float, float, float]:
    """White paper to the page's ground, black ink to a light one, colours between as light as they need to be."""
    lab = _lab(colour)
    light = lab[0]
    if light > LIGHT and np.hypot(*lab[1:]) < COLOURLESS:
        lab[0] = 0.21 + 1.2 * (1 - light)
    elif light < DARK:
        lab[0] = 0.92 - 0.57 * light
    else:
        lab[0] = max(light, 0.62 + 0.44 * (light - DARK))
    return (*_shown(lab), to_rgba(colour)[3])


def _lab(colour: Any) -> Float[np.ndarray, " 3"]:
    linear = np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgba(colour)[:3]])
    return TO_LAB @ np.cbrt(TO_CONES @ linear)


def _shown(lab: Float[np.ndarray, " 3"]) -> tuple[float, float, float]:
    linear = np.clip(np.linalg.solve(TO_CONES, np.linalg.solve(TO_LAB, lab) ** 3), 0, 1)
    red, green, blue = (float(12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055) for c in linear)
    return red, green, blue


def darken(figure: Figure) -> None:
    """Recolour everything in the figure, in place."""
    kept = {id(artist) for ax in figure.axes if _scaled(ax) for artist in (*ax.texts, *ax.lines, *ax.patches)}
    for artist in {id(each): each for each in figure.findobj()}.values():
        if id(artist) not in kept:
            _recolour(artist)
    _reread(figure, [text for ax in figure.axes for text in ax.texts if id(text) not in kept])
    for ax in figure.axes:  # ticks that are made anew while drawing, too
        ink, words, lines = (dark(LOOK[name]) for name in ("xtick.color", "xtick.labelcolor", "grid.color"))
        ax.tick_params(which="both", color=ink, labelcolor=words, grid_color=lines)


def _reread(figure: Figure, texts: list[Text]) -> None:
    """Words without a colour of their own take the ink that stands out from what is drawn below them."""
    plain = [text for text in texts if np.hypot(*_lab(text.get_color())[1:]) < COLOURLESS and text.get_visible()]
    if not plain:
        return
    for text in plain:
        text.set_visible(False)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    below = np.asarray(canvas.buffer_rgba())
    for text in plain:
        text.set_visible(True)
        box = text.get_window_extent(canvas.get_renderer())
        row, column = (int(np.clip(at, 0, size - 1)) for at, size in zip(
            (below.shape[0] - (box.y0 + box.y1) / 2, (box.x0 + box.x1) / 2), below.shape[:2], strict=True))  # fmt: skip
        if _lab(below[row, column] / 255)[0] > MIDDLE:
            text.set_color(GROUND)


def _scaled(ax: Axes) -> bool:
    """Does a scale of colours lie below what is written there?"""
    maps = [each.get_cmap() for each in (*ax.collections, *ax.images) if each.get_array() is not None]
    return any(each.N > LISTED for each in maps)


def _recolour(artist: Artist) -> None:
    if isinstance(artist, Text):
        artist.set_color(dark(artist.get_color()))
    elif isinstance(artist, Line2D):
        inks = (artist.get_color(), artist.get_markerfacecolor(), artist.get_markeredgecolor())
        line, face, edge = (each if isinstance(each, str) and each in ("none", "auto") else dark(each) for each in inks)
        artist.set(color=line, markerfacecolor=face, markeredgecolor=edge)
    elif isinstance(artist, Patch):
        face, edge = dark(artist.get_facecolor()), dark(artist.get_edgecolor())
        artist.set_facecolor(face)
        artist.set_edgecolor(edge)
    elif isinstance(artist, Collection):
        if artist.get_array() is None:
            artist.set_facecolor([dark(each) for each in np.atleast_2d(artist.get_facecolor())])  # pyright: ignore
        elif artist.get_cmap().N <= LISTED:
            artist.set_cmap(_listed(artist.get_cmap()))
        if len(edges := np.atleast_2d(artist.get_edgecolor())) and edges.size:  # pyright: ignore
            artist.set_edgecolor([dark(each) for each in edges])


def _listed(colours: Colormap) -> ListedColormap:
    return ListedColormap([dark(each) for each in colours(np.arange(colours.N))])


def save_dark(figure: Figure, folder: Path | str, name: str, metadata: Mapping[str, str]) -> Path:
    """Write `name`-dark.png; the figure is dark from then on."""
    path = Path(folder) / f"{name}-dark.png"
    with atomic_write(path) as draft, style():
        darken(figure)
        figure.savefig(draft, format="png", dpi=figure.dpi, facecolor=GROUND, metadata=dict(metadata))
    return path
