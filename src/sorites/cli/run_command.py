"""sorites run FILE.py[:NAME], or the same from flags"""

import dataclasses
import importlib.machinery
import importlib.util
import math
import shlex
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import SpecError, require
from .common import console, emit, nearest, open_store, progress

INSTALLED = {"site-packages", "dist-packages"}  # folders of installed packages
MANY = 1_000_000  # members of one command
FEW = 16  # members whose steps are printed one by one
FLAGS = dict.fromkeys(("task", "model", "supervision", "layers", "width", "rate", "batch", "steps", "every"))


def execute(options: Any) -> int:
    from ..store import identities
    from ..training import Run

    run = from_file(options.file) if options.file else from_flags(options)
    if options.file:
        given = [name for name, default in FLAGS.items() if getattr(options, name) != default]
        require(not given, f"a file says what it trains: --{given[0] if given else ''}; edit the file, or leave it out")
    if options.file and options.goal:
        run = Run(run.model, run.stages, goal_of(options.goal, "--goal"), run.start)
    try:
        seeds = int(options.overrides["seeds"])
    except ValueError:
        raise SpecError(f"--seeds takes a whole number: seeds={options.overrides['seeds']!r}; give it one") from None
    require(seeds >= 1, f"an ensemble needs at least one seed: seeds={seeds}; use 1 or more")
    require(seeds <= MANY, f"one command trains at most {MANY:,} members: seeds={seeds}; use fewer")
    with progress(options) as title:
        title("training")
        store = open_store(options)
        history = store.train(run, range(seeds)).history
    members = history.members()
    ids = [member.id for member in identities(run, range(seeds))]
    if not emit(options, [row | {"id": id} for row, id in zip(members.to_dicts(), ids, strict=True)]):
        screen = console(options)
        screen.print(history)
        solved = members["solved_at"].drop_nulls()
        screen.print(
            f"{len(solved)} of {seeds} members solved ({_said(run.goal)}); {int(members['diverged'].sum())} diverged.",
            highlight=False,
            markup=False,
        )
        for line in (_steps(members["steps"].to_list()), _next(run, store, ids[0], options)):
            screen.print(line, highlight=False, markup=False, soft_wrap=True)
    return 0


def _steps(taken: list[int]) -> str:
    """The steps of every member, or their range if there are many."""
    if len(taken) > FEW:
        return f"Steps taken: {min(taken):,} to {max(taken):,}."
    return f"Steps taken, seed by seed: {', '.join(f'{steps:,}' for steps in taken)}."


def _next(run: Any, store: Any, id: str, options: Any) -> str:
    """Where seed 0 is stored, and what to type now."""
    from ..models import GPT

    (folder,) = store.find(run, [0])
    where = f" --store {shlex.quote(options.store)}" if options.store else ""
    command = f"sorites export {id} --out model" if isinstance(run.model, GPT) else f"sorites runs show {folder.name}"
    return f"Seed 0 is stored as {id}. Next: {command}{where}"


def _said(goal: Any) -> str:
    if goal is None:
        return "no goal was named"
    return f"{goal.metric} {'≤' if goal.falls else '≥'} {float(goal.reaches):g}"


def from_file(spec: str, default: str = "run", kind: type | None = None) -> Any:
    """The Run of that name in a Python file (default: `run`), or a thing of another kind."""
    from ..training import Run

    kind = kind or Run
    word = f"a {kind.__name__.removeprefix('Abstract')}"
    path, _, name = spec.partition(":")
    name = name or default
    module = module_of(path, word)
    found = getattr(module, name, None)
    if found is None and hasattr(module, name):
        raise SpecError(f"{path}:{name} must be {word} or a function that returns one; it is None")
    if found is None:
        raise nearest(f"name in {path}", name, [each for each in vars(module) if not each.startswith("_")])
    with own_errors(path):
        found = found() if callable(found) and not isinstance(found, kind) else found
    if not isinstance(found, kind):
        raise SpecError(f"{path}:{name} must be {word} or a function that returns one; it is a {type(found).__name__}")
    return found


def module_of(path: str, what: str) -> Any:
    """A person's file as a module."""
    if not Path(path).is_file() or Path(path).suffix != ".py":
        raise SpecError(f"{what} is read from a Python file: {path!r} is none; check the path, which ends in .py")
    require(not _taken(Path(path).stem), f"{path} has the name of an installed module, and every import of "
            f"{Path(path).stem} would read it; rename the file")  # fmt: skip
    loaded = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert loaded is not None
    assert loaded.loader is not None
    module = importlib.util.module_from_spec(loaded)
    sys.modules[loaded.name] = module
    sys.path.insert(0, str(Path(path).resolve().parent))  # as Python does with a script: its helpers lie beside it
    with own_errors(path):
        loaded.loader.exec_module(module)
    return module


def _taken(name: str) -> bool:
    """Whether Python, sorites or an installed package has a module of that name."""
    if name in sys.stdlib_module_names or name == "sorites":
        return True
    found = importlib.machinery.PathFinder.find_spec(name)
    return found is not None and bool(INSTALLED & {*Path(found.origin or "").parts})


@contextmanager
def own_errors(path: str) -> Iterator[None]:
    """What a person's file raises is said in one sentence, with the line."""
    try:
        yield
    except (SpecError, KeyboardInterrupt):
        raise
    except SystemExit as stop:
        raise SpecError(f"{path} called exit({stop.code!r}) when it was read; let it define a Run and end") from None
    except BaseException as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename) == Path(path).resolve()
        ]
        where = f"{path}, line {lines[-1]}" if lines else path
        text = str(error).splitlines()[0] if str(error) else ""
        raise SpecError(f"{where} raised {type(error).__name__} ({text}); mend the file") from error


def from_flags(options: Any) -> Any:
    """A task, a model and a supervision by name."""
    from ..models import MODELS
    from ..training.cells import SUPERVISIONS, TASKS, Sizes, run_named

    for flag, known in (("task", TASKS), ("model", MODELS), ("supervision", SUPERVISIONS)):
        value = getattr(options, flag)
        if value is None:
            raise SpecError(f"sorites run needs a file, or --task, --model and --supervision: --{flag} is missing; "
                            f"use one of {', '.join(known)}")  # fmt: skip
        if value not in known:
            raise nearest(flag, value, known)
    sizes = Sizes(*(getattr(options, field.name) for field in dataclasses.fields(Sizes)))
    chosen = {name: getattr(options, name) for name in ("layers", "width", "rate", "batch", "steps", "every")}
    for name, value in chosen.items():
        require(
            value is None or 0 < value < 2**31,
            f"a number above zero and below 2^31: {name}={value}; leave it out for the model's own",
        )
    return run_named(
        options.task, options.model, options.supervision, sizes, **chosen, goal=goal_of(options.goal, "--goal")
    )


def goal_of(text: str | None, flag: str) -> Any:
    """padded.answer=0.99 as an Until; a loss falls to its value."""
    from ..training import Until

    if text is None:
        return None
    metric, equals, value = text.partition("=")
    try:
        require(bool(metric and equals) and math.isfinite(float(value)), "")
        return Until(metric, float(value), falls="loss" in metric or "error" in metric)  # pyright: ignore
    except ValueError:
        raise SpecError(f"a goal is METRIC=VALUE: {flag} {text!r}; write for example padded.answer=1") from None
