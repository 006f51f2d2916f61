"""What is drawn: words of the command line, files that should hold a Run, and harm to JSON, bytes and archives."""

import functools
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from sorites.papers import registry

ODD = (
    "",
    " ",
    "-",
    "--",
    "[/x]",
    "[bold]",
    "../..",
    "/",
    "nul\x01",
    "é😀",
    "x" * 300,
    "%s",
    "{0}",
    "*",
    "LI",
    "\udc80",
)
SMALL = ("1", "2", "3", "4", "6", "8", "12")
WRONG = (
    "0",
    "-1",
    "-99999999999",
    "1.5",
    "1e9",
    "nan",
    "inf",
    "-inf",
    "x",
    "0x10",
    "1_000",
    "٣",
    "99999999999999999999",
    "9" * 400,
    "true",
    "None",
    "1,2",
    "2,,3",
)
TASKS = ("parity", "and", "or", "lego", "composition", "sequences", "party")
MODELS = ("gated", "reader", "open-gates", "positional", "perceptron", "gpt", "decoder", "gatd")
WAYS = (
    "direct",
    "teacher-forcing",
    "icot",
    "log-icot",
    "own-soft",
    "own-greedy",
    "process-reward",
    "outcome-reward",
    "self-training",
    "none",
)
PLACE = st.integers(0, 9_999).map(lambda number: number / 10_000)  # evenly, which floats are not
FAST = {"identity", "inequality", "uncheckable"}  # kinds of claims that do not train


def _words(*parts: Any) -> st.SearchStrategy[list[str]]:
    return st.tuples(*parts).map(lambda found: [word for part in found for word in _listed(part)])


def _listed(part: Any) -> list[str]:
    return [part] if isinstance(part, str) else list(part)


def _maybe(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.just([]), strategy)


def _number() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(SMALL), st.sampled_from(WRONG))


def _flags(names: tuple[str, ...], values: st.SearchStrategy[str], most: int = 3) -> st.SearchStrategy[list[str]]:
    one = st.tuples(st.sampled_from(names).map(lambda name: f"--{name}"), values)
    return st.lists(one, max_size=most).map(lambda pairs: [word for pair in pairs for word in pair])


def lines() -> st.SearchStrategy[list[str]]:
    """Command lines that answer within seconds if they answer at all."""
    claims = [claim for claim in registry.claims().values() if claim.kind in FAST and claim.domain is not None]
    claims = [claim for claim in claims if "seeds" not in claim.flags]
    pictures = ["log-icot/1", "log-icot/2a", "log-icot/4", "kim-suzuki/1"]
    ids = st.one_of(
        st.sampled_from(list(registry.claims())), st.sampled_from(list(registry.figures())), st.sampled_from(ODD)
    )
    shared = _maybe(
        st.sampled_from(
            [
                ["--quiet"],
                ["--json", "-"],
                ["--json", "out.json"],
                ["--json", "/"],
                ["--json", ""],
                ["--store", "elsewhere"],
                ["--store", "/dev/null"],
                ["--store", ""],
            ]
        )
    )
    claim = st.sampled_from(claims).flatmap(
        lambda claim: _words(st.just(claim.id), _flags(tuple(claim.flags) or ("bits",), _number(), 2))
    )
    sized = {"bits": "6", "sparsity": "2", "steps": "2", "every": "1", "batch": "4", "seeds": "1", "length": "2"}
    small = [word for name, value in sized.items() for word in (f"--{name}", value)]
    trained = _words(
        st.just("run"),
        st.just(small),
        st.sampled_from(TASKS).map(lambda name: ["--task", name]),
        st.sampled_from(MODELS).map(lambda name: ["--model", name]),
        st.sampled_from(WAYS).map(lambda name: ["--supervision", name]),
        _flags(
            (*sized, "rate", "variables"), st.one_of(st.sampled_from(WRONG), st.sampled_from(("1", "2", "4", "8"))), 2
        ),
        _flags(
            ("decomposition", "action", "goal"),
            st.sampled_from(
                ("tree", "serial", "flat", "C3", "S3", "S99", "padded.answer=1", "own.loss=0", "x=1", "=", *ODD)
            ),
            1,
        ),
    )
    runs = st.one_of(
        _words(
            st.just("runs"),
            st.sampled_from(("list", "check", "show", "diff", "export", "import", "query", "x")),
            st.lists(st.sampled_from((*ODD, "out.tar.gz", "history.npz", "a.tgz", "0", "f")), max_size=3),
        ),
        st.tuples(st.just("runs"), st.just("query"), sql()).map(list),
    )
    other = st.one_of(
        _words(
            st.just("list"),
            st.sampled_from(("claims", "figures", "papers", "tasks", "models", "cells", "all")),
            _maybe(st.sampled_from((["--paper", "wen"], ["--paper", "win"], ["--paper"], ["--paper", "[/x]"]))),
        ),
        _words(st.sampled_from(("show", "cite")), ids),
        st.just(["cite"]),
        _words(st.just(["verify", "--scale", "tiny"]), claim),
        _words(
            st.just(["verify", "--scale", "tiny"]),
            st.sampled_from((*ODD, "LI-99", "li-14")),
            _flags(("bits", "x"), _number()),
        ),
        _words(
            st.just(["verify", "--scale", "tiny"]),
            claim.map(lambda words: words[:1]),
            st.just("--anywhere"),
            st.sampled_from(("1", "2", *WRONG)).filter(lambda number: number != "1_000"),  # which is work, and no hang
            _maybe(_number().map(lambda number: ["--seed", number])),
        ),
        _words(
            st.just(["figure", "--scale", "tiny"]),
            st.sampled_from(pictures),
            _flags(("bits", "seeds", "out"), _number(), 2),
        ),
        _words(st.just("entropy"), st.sampled_from(ODD), st.just("--data"), st.sampled_from(ODD)),
        _words(
            st.just("reproduce"),
            st.sampled_from((["--paper", "x"], ["--jobs", "0"], ["--scale", "huge"], ["--jobs", "x"])),
        ),
        st.lists(
            st.one_of(
                st.sampled_from(("list", "verify", "runs", "figure", "--help", "-h", "--version")), st.sampled_from(ODD)
            ),
            max_size=4,
        ).filter(lambda words: words[:1] != ["verify"] and "reproduce" not in words),
    )
    return _words(st.one_of(trained, runs, runs, other, other, other, other, other), shared).filter(_bounded)


def _bounded(words: list[str]) -> bool:
    """Not what is meant to take long: every claim at once."""
    return not (words[:1] == ["verify"] and not any(word[:1] not in "-" for word in words[1:] if word != "tiny"))


def sql() -> st.SearchStrategy[str]:
    part = st.sampled_from(
        (
            "select",
            "*",
            "from",
            "runs",
            "history",
            "members",
            "where",
            "seed",
            "=",
            "1",
            ",",
            "(",
            ")",
            "count(*)",
            "group by",
            "order by",
            "limit",
            "-1",
            "'",
            '"',
            "--",
            ";",
            "with",
            "as",
            "union",
            "join",
            "on",
            "read_csv",
            "[/x]",
            "1/0",
            "avg(step)",
            "😀",
            "null",
            "cast(seed as int)",
        )
    )
    return st.one_of(
        st.lists(part, max_size=9).map(" ".join),
        st.lists(part, max_size=4).map(lambda words: "select * from history " + " ".join(words)),
    )


LINES = (
    "raise ValueError('[/x]')",
    "import sys; sys.exit(3)",
    "run = None",
    "run = 5",
    "1/0",
    "\x00",
    "def run(): return 7",
    "run = [run]",
    "import nowhere",
    "x = (",
    "\tx = 1",
    "é = '😀'",
    "run = run, run",
    "del run",
    "print('hello')",
    "class run: pass",
    "def f(): return f()\nf()",
    "raise SystemExit",
    "from sorites import nothing",
    "so.Store('/dev/null').train(run, [0])",
    "so.Parity = None",
    "import sorites; sorites.__path__ = []",
)
VALUES = (
    "2",
    "4",
    "8",
    "0",
    "-1",
    "1.5",
    "None",
    "'x'",
    "[1, 2]",
    "(2,)",
    "float('nan')",
    "10**30",
    "True",
    "task",
    "so",
    "{}",
)


def _mostly(usual: tuple[str, ...], odd: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Fifteen times of sixteen something usual: one oddity at a time goes deeper than many."""
    return st.sampled_from((*usual * (15 * len(odd)), *odd * len(usual)))


def files() -> st.SearchStrategy[str]:
    """A task, a model, a plan and a Run, with oddities."""
    size, few = _mostly(("4", "8"), VALUES), _mostly(("2",), VALUES)
    task = st.one_of(
        st.tuples(_mostly(("8",), VALUES), _mostly(("2", "4"), VALUES)).map(
            lambda two: f"so.Parity({two[0]}, {two[1]})"
        ),
        _mostly(
            ("so.Parity(6, 2)", "so.Lego('C3', 2, 6)", "so.Composition([[0, 1], [1, 0]], 2)"),
            ("so.Parity()", "5", "so.Parity"),
        ),
    )
    model = _mostly(
        ("so.gated(task)", "so.gpt(task, width=4, heads=1)", "so.positional(task)", "so.perceptron(task)"),
        ("so.gated(so.Parity(4, 2))", "so.decoder(task)", "None", "task", "so.gated", "so.gpt(task, width=3)"),
    )
    taught = _mostly(
        (
            "so.log_icot(task.layout)",
            "[so.teacher_forcing(task.layout)]",
            "[so.direct(task.layout)]",
            "[so.process_reward(task.layout)]",
            "[so.teacher_forcing(task.layout, so.CrossEntropy())]",
        ),
        ("[]", "None", "so.teacher_forcing(task.layout)", "[5]"),
    )
    source = st.one_of(
        size.map(lambda size: f"so.Sampled({size})"),
        _mostly(
            ("so.Pooled(8, 4)", "so.OnePass(4)", "so.Passes(4, 8)", "so.Rewritten(so.Sampled(4))"),
            ("so.Pooled(4, 8)", "so.Passes(8, 4)", "7", "so.Sampled"),
        ),
    )
    rule = st.one_of(
        _mostly(("0.1",), VALUES).map(lambda rate: f"so.Adam({rate})"),
        _mostly(
            ("so.GD(0.1)", "so.Clip(so.Adam(0.1), 1)", "so.Decay(so.Adam(0.1), 4)"),
            ("so.Clip(so.Adam(0.1), 0)", "so.Decay(so.Adam(0.1), 0)", "so.Clip(5, 1)", "None", "so.AdamW(0.1, 'x')"),
        ),
    )
    steps = _mostly(("2", "3"), ("0", "-1", "1.5", "None", "'x'", "[2]", "float('nan')", "10**30"))
    evaluation = st.tuples(few, size).map(lambda two: f"so.Evaluation({two[0]}, {two[1]})")
    goal = _mostly(
        ("None", "so.Until('own.loss', 0.0, falls=True)"), ("so.Until('x', 1)", "5", "so.Until('own.loss', None)")
    )
    plain = st.tuples(task, model, taught, source, rule, steps, evaluation, goal).map(
        lambda s: (
            f"import sorites as so\ntask = {s[0]}\nplan = so.stages(task, {s[2]}, {s[3]}, {s[4]}, {s[5]}, {s[6]})\n"
            f"run = so.Run({s[1]}, plan, {s[7]})\n"
        )
    )
    spoilt = st.tuples(plain, st.sampled_from(LINES), st.integers(0, 5)).map(_with_line)
    return st.one_of(plain, plain, plain, spoilt, st.text(max_size=40))


def _with_line(case: tuple[str, str, int]) -> str:
    text, line, place = case
    lines = text.splitlines()
    return "\n".join([*lines[:place], line, *lines[place:]]) + "\n"


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from((0, 1, -1, 5, 10**9, 10**30, 1.5, 1e308)),
        st.sampled_from(
            (
                "",
                "x",
                "[/x]",
                "sorites.tasks.boolean.Boolean",
                "os.system",
                "os:system",
                "dtype:float32",
                "dtype:x",
                "sorites.models.gpt:gpt",
                "../..",
                "\udc80",
            )
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(("kind", "items", "array", "dtype", "sha256", "shape", "float", "id", "seed", "run")),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=5,
)


def changed() -> st.SearchStrategy[Callable[[Any], Any]]:
    """One place of a JSON value replaced, removed or renamed."""
    return st.tuples(PLACE, st.sampled_from(("replace", "replace", "remove", "rename", "deep")), JSON).map(
        lambda drawn: functools.partial(_change, drawn)
    )


def _change(drawn: tuple[float, str, Any], value: Any) -> Any:
    where, how, other = drawn
    places: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        for key in list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ():
            places.append((part, key))
            walk(part[key])

    value = json.loads(json.dumps(value))
    walk(value)
    part, key = places[int(where * len(places))]
    if how == "remove":
        del part[key]
    elif how == "rename" and isinstance(part, dict):
        part[f"{key}x"] = part.pop(key)
    elif how == "deep":
        for _ in range(300):
            other = [other]
        part[key] = other
    else:
        part[key] = other
    return value


def _bytes() -> st.SearchStrategy[Callable[[bytes], bytes]]:
    """Bytes cut, turned, doubled, emptied or replaced."""
    place = PLACE
    return st.one_of(
        place.map(lambda p: lambda b: b[: int(p * len(b))]),
        st.tuples(place, st.integers(1, 255)).map(lambda d: lambda b: _turned(b, *d)),
        st.lists(st.tuples(place, st.integers(1, 255)), min_size=2, max_size=40).map(
            lambda many: lambda b: functools.reduce(lambda c, d: _turned(c, *d), many, b)
        ),
        st.tuples(place, st.binary(max_size=30)).map(
            lambda d: lambda b: b[: int(d[0] * len(b))] + d[1] + b[int(d[0] * len(b)) :]
        ),
        st.just(lambda b: b + b),
        st.just(lambda b: b""),
        st.binary(max_size=200).map(lambda new: lambda b: new),
    )


def _turned(content: bytes, place: float, by: int) -> bytes:
    at = int(place * len(content))
    return content[:at] + bytes([content[at] ^ by]) + content[at + 1 :] if content else content


def harms() -> st.SearchStrategy[Callable[[Path], Any]]:
    """A file spoilt in place."""

    def text(change: Callable[[Any], Any]) -> Callable[[Path], None]:
        def harm(path: Path) -> None:
            if path.suffix == ".json":
                path.write_text(json.dumps(change(json.loads(path.read_text()))))
            else:
                path.write_bytes(_turned(path.read_bytes(), 0.5, 1))

        return harm

    def instead(path: Path) -> None:
        path.unlink()
        path.mkdir()

    def looped(path: Path) -> None:
        path.unlink()
        os.symlink(path.name, path)

    return st.one_of(
        _bytes().map(lambda change: lambda path: path.write_bytes(change(path.read_bytes()))),
        changed().map(text),
        st.sampled_from((Path.unlink, instead, looped)),
    )


NAMES = (
    "../x",
    "/etc/x",
    "a/b/c",
    "0123456789abcdef/spec.json",
    "0123456789abcdef/other",
    "x",
    "",
    "é/spec.json",
    "-/meta.json",
    "0123456789abcdef/../spec.json",
    "." * 200 + "/spec.json",
)
TYPES = (tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"Z")


def _repacked(case: tuple) -> Callable[[bytes], bytes]:
    """An archive in which an entry was added, renamed, retyped, dropped or doubled."""
    how, where, name, kind, content, size = case

    def change(whole: bytes) -> bytes:
        made = io.BytesIO()
        with tarfile.open(fileobj=io.BytesIO(whole)) as old, tarfile.open(fileobj=made, mode="w:gz") as new:
            entries = old.getmembers()
            chosen = entries[int(where * len(entries))]
            for entry in entries:
                body = old.extractfile(entry).read()  # pyright: ignore[reportOptionalMemberAccess]
                if entry is chosen and how == "drop":
                    continue
                if entry is chosen and how == "rename":
                    entry.name = name
                if entry is chosen and how == "body":
                    body, entry.size = content, len(content)
                if entry is chosen and how == "header":
                    entry.pax_headers = {"size": size, "mtime": "x", "path": name or "x"}
                new.addfile(entry, io.BytesIO(body))
                if entry is chosen and how == "double":
                    new.addfile(entry, io.BytesIO(body))
            if how == "add":
                entry = tarfile.TarInfo(name or "x")
                entry.type, entry.linkname, entry.size = kind, "/etc/passwd", len(content)
                new.addfile(entry, io.BytesIO(content))
        return made.getvalue()

    return change


def archives() -> st.SearchStrategy[tuple[str, Callable[[bytes], bytes]]]:
    packed = st.tuples(
        st.sampled_from(("add", "rename", "drop", "double", "body", "header")),
        PLACE,
        st.sampled_from(NAMES),
        st.sampled_from(TYPES),
        st.binary(max_size=50),
        st.sampled_from(("-1", "x", "9" * 30, "1")),
    ).map(_repacked)
    said = changed().map(lambda change: lambda content: json.dumps(change(json.loads(content))).encode())
    return st.one_of(
        st.tuples(st.just("out.tar.gz"), st.one_of(_bytes(), packed, packed)),
        st.tuples(st.just("history.npz"), _bytes()),
        st.tuples(st.just("history.json"), said),
    )


OF: dict[str, st.SearchStrategy] = {
    "line": lines(),
    "process": lines(),
    "file": files(),
    "store": st.tuples(PLACE, harms(), PLACE),
    "spec": st.tuples(changed(), st.sampled_from(("spec.json", "spec.json", "meta.json")), PLACE),
    "archive": archives(),
}
