"""A small store with a file of every kind, and everything one can ask it: what flips and fuzz spoil and then read."""

import contextlib
import io
import json
import os
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sorites as so
from sorites.cli.main import main
from sorites.store.folder import Damaged
from sorites.store.tables import read_tables

CLAIM, FIGURE = "LI-24", "log-icot/2a"
SEEDS = (3, 0, 7)


class Answer(NamedTuple):
    """What was read; and whether anything was refused, warned of or found."""

    value: str
    noticed: bool


class Interrupted(Exception):
    pass


def spec() -> so.Run:
    """A run whose task has a table too large for spec.json."""
    table = np.add.outer(np.arange(9), np.arange(9)) % 9
    task = so.Composition(table, 2)
    stage = so.Stage(task, (so.teacher_forcing(task.layout, so.CrossEntropy()),), so.Sampled(4), so.Adam(0.1), 4,
                     so.Evaluation(2, 8))  # fmt: skip
    return so.Run(so.gpt(task, width=4, layers=1, heads=1), (stage,))


def made_arrays(size: tuple[int, ...]) -> dict[str, np.ndarray]:
    return {"squares": np.arange(size[0]) ** 2}


def fill(folder: Path) -> None:
    """store/, out.tar.gz, history.npz and history.json."""
    store, run = so.Store(folder / "store"), spec()
    made = store.train(run, SEEDS, snapshots=(2,))
    store.train(run, [11], snapshots=(2,))  # a second folder, to tell apart
    store.keep((5,), made_arrays)
    made.history.save(folder / "history.npz")
    (members,) = [path for path in store.folders() if len(path.ids) == len(SEEDS)]
    (folder / "history.json").write_text(json.dumps({"spec": members.spec, "meta": {"seconds": 1.5}}))
    for words in (
        ("verify", CLAIM, "--scale", "tiny"), ("figure", FIGURE, "--scale", "tiny", "--out", str(folder / "figures")),
        ("runs", "export", str(folder / "out.tar.gz")),
    ):  # fmt: skip
        answer = said(*words, "--store", str(folder / "store"), "--quiet")
        assert answer.value.startswith("0"), answer
    interrupted(folder)


def checkpoint(folder: Path) -> Any:
    from sorites.training import Checkpoint

    return Checkpoint(folder / "standing.npz", "shelf", every=0.0)


def interrupted(folder: Path) -> None:
    """standing.npz: a training that ended in its middle."""

    def stop(now):
        if now.step >= 2:
            raise Interrupted

    with contextlib.suppress(Interrupted):
        so.train(spec(), SEEDS, progress=stop, chunk=1, checkpoint=checkpoint(folder))
    assert (folder / "standing.npz").exists()


def said(*words: str) -> Answer:
    """A command in this process. A traceback is not caught: it is what is looked for."""
    out, err = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(list(words))
    if status == 2 and (not err.getvalue().startswith("sorites: ") or err.getvalue().count("\n") != 1):
        raise AssertionError(f"not one sentence: {err.getvalue()!r}")
    if status not in (0, 1, 2) or "Traceback" in err.getvalue():
        raise AssertionError(f"status {status}: {err.getvalue()!r}")
    return Answer(f"{status} {out.getvalue()}", status == 2 or bool(_told(caught)))


def _told(caught: list[warnings.WarningMessage]) -> list[str]:
    return [str(each.message) for each in caught if "damaged" in str(each.message) or "cannot" in str(each.message)]


def quietly(ask: Callable[[], Any]) -> Answer:
    """The same for what is asked in Python: refusals are sentences."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = ask()
        except (so.SpecError, Damaged) as refusal:
            return Answer(str(refusal), True)
    return Answer(str(value), bool(_told(caught)))


def digest(trained: Any) -> str:
    """History and weights of an ensemble, to the last bit."""
    import equinox as eqx
    import jax

    weights = [np.asarray(leaf).tobytes().hex() for leaf in jax.tree.leaves(eqx.filter(trained.models, eqx.is_array))]
    metrics = {name: np.asarray(values).tobytes().hex() for name, values in trained.history.metrics.items()}
    return json.dumps([metrics, weights, trained.history.solved_at.tolist(), trained.history.seeds.tolist()])


def first(root: Path) -> str:
    """The name of the folder of three, damaged or not."""
    return max((root / "members").glob("*/model.safetensors"), key=lambda path: path.stat().st_size).parent.name


def questions(folder: Path, name: str) -> dict[str, Callable[[], Answer]]:
    """Everything that reads the store at folder/store; name: of the folder of three."""
    root = folder / "store"
    shelf = ["--store", str(root)]
    found: dict[str, Callable[[], Answer]] = {}
    for words in (
        ("runs", "list", "--json", "-"), ("runs", "list"), ("runs", "show", name, "--json", "-"),
        ("runs", "show", name), ("runs", "query", "select * from history", "--json", "-"),
        ("runs", "query", "select * from members", "--json", "-"), ("show", CLAIM, "--json", "-"),
    ):  # fmt: skip
        found[" ".join(words).replace(name, "NAME")] = lambda words=words: said(*words, *shelf)

    def load() -> Any:
        model, task, secret, history = so.Store(root).load(name, SEEDS[0])
        return [repr(task), str(secret), {key: values.tolist() for key, values in history.metrics.items()}, str(model)]

    found["load"] = lambda: quietly(load)
    found["train"] = lambda: quietly(lambda: digest(so.Store(root).train(spec(), SEEDS)))
    found["train along"] = lambda: quietly(lambda: digest(so.Store(root).train(spec(), SEEDS, snapshots=(2,))))
    found["keep"] = lambda: quietly(lambda: so.Store(root).keep((5,), made_arrays)["squares"].tolist())
    (tables,) = [path for path in (root / "figures").glob("*/*/*") if "." not in path.name]
    found["tables"] = lambda: Answer(repr(frames := read_tables(tables)), frames is None)
    found["check"] = lambda: said("runs", "check", "--json", "-", *shelf)
    return found


def imported(folder: Path, archive: str) -> Answer:
    """An archive or a history taken into a store of its own, and what is in there then."""
    new = ["--store", str(folder / "new")]
    taken = said("runs", "import", str(folder / archive), *new)
    if taken.noticed:
        assert not list((folder / "new").glob("members/*")), "refused, and taken in"
        return taken
    rows = said("runs", "query", "select * exclude (run) from history", "--json", "-", *new)
    checked = said("runs", "check", "--json", "-", *new)
    if not checked.value.startswith("0"):
        raise AssertionError(f"adopted, and not whole: {checked.value}")
    return rows


def resumed(folder: Path) -> Answer:
    """What goes on from the checkpoint."""
    return quietly(lambda: digest(so.train(spec(), SEEDS, chunk=1, checkpoint=checkpoint(folder))))


def failure(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-1800:]


def say(row: dict[str, Any]) -> None:
    """A row to the process that began this one, past whatever is printed meanwhile."""
    os.write(int(os.environ["ROWS"]), (json.dumps(row) + "\n").encode())
