"""What the commands share: look-ups that suggest the nearest name, output, progress."""

import difflib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import SpecError, require
from ..papers import registry


def nearest(kind: str, name: str, known: Iterable[str]) -> SpecError:
    """A refusal that suggests what was probably meant."""
    known = list(known)
    folded = difflib.get_close_matches(name.lower(), [each.lower() for each in known], n=1, cutoff=0.3)
    guess = [each for each in known if each.lower() in folded]
    hint = f"did you mean {guess[0]!r}?" if guess else f"use one of {', '.join(known)}"
    return SpecError(f"there is no {kind} {name!r}; {hint}")


def forget_programs() -> None:
    """Drop compiled programs: each maps memory, a process may map only so often, and hundreds of them exceed that."""
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


def all_claims() -> dict[str, Any]:
    return registry.claims()


def all_figures() -> dict[str, Any]:
    return registry.figures()


def paper_named(slug: str):
    if slug not in registry.papers():
        raise nearest("paper", slug, registry.papers())
    return registry.papers()[slug]


def open_store(options: Any):
    from ..store import Store, default_root

    return Store(Path(options.store) if options.store else default_root())


def check_json(options: Any) -> None:
    """A path that cannot be written is refused before the work, not after it."""
    given = getattr(options, "json", None)
    path = Path(given or ".")
    possible = given in (None, "-") or (path.parent.is_dir() and os.access(path.parent, os.W_OK) and not path.is_dir())
    require(possible, f"--json writes a file: {given!r} cannot be one; choose another path")


def emit(options: Any, value: Any) -> bool:
    """Write JSON if asked; true if standard output is taken by it."""
    if options.json is None:
        return False
    text = json.dumps(value, indent=1, allow_nan=False, default=str) + "\n"
    if options.json == "-":
        sys.stdout.write(text)
        return True
    try:
        Path(options.json).write_text(text)
    except OSError as error:
        raise SpecError(f"--json writes a file: {options.json} ({error.strerror}); choose another path") from None
    return False


def console(options: Any, taken: bool = False):
    """A console on standard output, or on standard error when JSON has standard output."""
    from rich.console import Console

    return Console(stderr=taken, quiet=options.quiet, soft_wrap=False)


@contextmanager
def progress(options: Any) -> Iterator[Any]:
    """A bar on standard error that every ensemble in the block reports to; yields a function to set its title."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from ..runtime import use_compilation_cache
    from ..training import reporting
    from .compiling import compiling

    use_compilation_cache()
    screen = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"), TimeRemainingColumn(),
        console=screen, transient=True, disable=options.quiet or not screen.is_terminal,
    )  # fmt: skip
    with bar:
        line = bar.add_task("starting", total=None, detail="")

        def title(text: str) -> None:
            bar.update(line, description=text, total=None, completed=0, detail="")

        def listen(now: Any) -> None:
            detail = f"stage {now.stage}/{now.stages} · {now.rate:,.0f} steps/s · {now.solved}/{now.members} solved"
            bar.update(line, total=now.steps, completed=now.step, detail=detail)

        def compile(begins: bool, _: float) -> None:
            bar.update(line, detail="compiling" if begins else "")

        with reporting(listen), compiling(compile):
            yield title
