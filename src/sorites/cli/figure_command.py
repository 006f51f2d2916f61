"""sorites figure SLUG/FIG"""

import dataclasses
import sys
from pathlib import Path
from typing import Any

from ..errors import SpecError
from ..ledger import override
from ..ledger.claim import SCALES
from ..ledger.verification import refusing
from .common import all_figures, console, emit, nearest, open_store, progress


def execute(options: Any) -> int:
    from ..report.figures import make_figure, read_tables, recorded, table_key

    figures = all_figures()
    if options.id not in figures:
        raise nearest("figure", options.id, figures)
    figure, store = figures[options.id], open_store(options)
    parameters = sized(figure, options.scale, options.overrides)
    if options.scale == "paper":
        place = store.figure_folder(figure.paper, figure.name, table_key(figure, parameters))
        if read_tables(place) is None and recorded(figure, dataclasses.asdict(parameters)) is None:
            print(
                f"sorites: {figure.id} is not recorded at paper scale and is run now: about {figure.seconds:.0f} s at "
                "quick scale on 2 cores, many times that here",
                file=sys.stderr,
            )
    with progress(options) as title, refusing(f"{figure.id} cannot be drawn", options.overrides):
        title(figure.id)
        made = make_figure(figure, parameters, options.scale, store, Path(options.out), command(figure, options))
    record = made.record() | {
        "png": str(made.png),
        "origin": made.origin,
        "parameters": dataclasses.asdict(parameters),
    }
    if not emit(options, record):
        screen = console(options)
        screen.print(f"{made.png}\n{made.pdf}\n{made.data}", highlight=False, soft_wrap=True, markup=False)
        for text in (made.caption, made.finding):
            if text:
                screen.print(f"\n{text}", highlight=False, markup=False)
    return 0


def sized(figure: Any, scale: Any, overrides: dict[str, str]) -> Any:
    """The figure's parameters at a scale, with what was overridden."""
    below = SCALES[: SCALES.index(scale) + 1]
    size = next((figure.sizes[each] for each in reversed(below) if each in figure.sizes), figure.sizes.get("quick"))
    known = {field.name for field in dataclasses.fields(size)}
    for name in overrides:
        if name not in known:
            raise SpecError(
                f"{figure.id} has no parameter {name!r}; use {', '.join('--' + each for each in sorted(known))}"
            )
    return override(size, overrides)


def command(figure: Any, options: Any) -> str:
    words = ["sorites figure", figure.id]
    words += [] if options.scale == "quick" else [f"--scale {options.scale}"]
    words += [f"--{name.replace('_', '-')} {value}" for name, value in options.overrides.items()]
    return " ".join(words)
