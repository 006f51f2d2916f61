"""The reference: every public name with its signature, its docstring and an example that the tests run."""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import sorites

EXAMPLES = Path(__file__).parent / "examples"
PAGES = {  # page: its title and the folders whose names it shows
    "tasks": ("Tasks", ("tasks", "errors")),
    "models": ("Models and predictions", ("models", "models.")),  # a module of models has its maker's name
    "supervision": ("Supervision, sources and objectives", ("supervision",)),
    "probes": ("Probes", ("probes",)),
    "training": ("Training", ("training", "training.cells")),
    "store": ("The store", ("store",)),
    "sweeps": ("Sweeps", ("sweeps",)),
    "ledger": ("Claims, figures, papers", ("ledger", "papers.paper", "papers.figure", "")),
}


def names(page: str) -> list[str]:
    """The public names of a page, in the order of the alphabet."""
    shown = PAGES[page][1]
    within = tuple(folder for folder in shown if folder.endswith("."))
    homes = [names for home, names in sorites._HOMES.items() if home in shown or (within and home.startswith(within))]
    found = [name for names in homes for name in names.split()]
    return sorted([*found, *(["__version__"] if "" in PAGES[page][1] else [])], key=str.lower)


def examples(page: str) -> dict[str, str]:
    """The text under `## name` in examples/page.md."""
    parts = re.split(r"^## (\w+)$", _written(page), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


def sessions(page: str) -> dict[str, str]:
    """The code of each example, as typed."""
    return {name: _typed(text) for name, text in examples(page).items()}


def session(page: str) -> str:
    """All code of a page, from top to bottom."""
    return _typed(_written(page))


def document(page: str) -> str:
    title, folders = PAGES[page]
    about = importlib.import_module(f"sorites.{folders[0]}").__doc__ or ""
    beginning, shown = _written(page).split("\n## ")[0], examples(page)
    entries = [_entry(name, text) for name, text in shown.items()]  # in the order of the session
    return "\n\n".join([f"# {title}", _markdown(about), beginning.strip(), *entries]) + "\n"


def _written(page: str) -> str:
    return (EXAMPLES / f"{page}.md").read_text()


def _typed(text: str) -> str:
    return "\n".join(re.findall(r"```pycon\n(.*?)```", text, re.DOTALL))


def _entry(name: str, example: str) -> str:
    found = getattr(sorites, name)
    if inspect.isclass(found):
        kind, text = "class", f"{_signature(found)}"
    elif callable(found):
        kind, text = "function", _signature(found)
    else:
        kind, text = "data", ""
    words = _markdown(inspect.cleandoc(found.__dict__.get("__doc__") or "") if kind == "class" else
                      inspect.getdoc(found) or "" if kind == "function" else "")  # fmt: skip
    words = "" if words.startswith(f"{name}(") else words  # what a dataclass writes where nobody did
    parts = [part for part in (words, _methods(found) if kind == "class" else "", example) if part]
    body = "\n\n".join(parts)
    return f"## {name}\n\n````{{py:{kind}}} sorites.{name}{text}\n{body}\n````"


def _signature(found: Any) -> str:
    """Names and defaults; what each is stands in the text."""
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return "()"
    shown = []
    for each in parameters:
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is each.empty else f"={_default(each.default)}"
        shown.append(f"{star}{each.name}{default}")
    return f"({', '.join(shown)})"


def _default(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 24 and not text.startswith("<") else "..."


def _methods(found: type) -> str:
    """What the class itself defines and explains."""
    lines = []
    for name, each in vars(found).items():
        function = each.fget if isinstance(each, property) else getattr(each, "__func__", each)
        words = inspect.getdoc(function) if callable(function) else None
        if name.startswith("_") or not words or not inspect.isfunction(inspect.unwrap(function)):
            continue
        call = "" if isinstance(each, property) else "()"
        first = words.split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        lines.append(f"| `{name}{call}` | {_escaped(first)} |")
    return "| offers | |\n|---|---|\n" + "\n".join(lines) if lines else ""


def _markdown(text: str) -> str:
    """Docstrings are prose with `code`; a paragraph with indented lines is an example to be kept as it is."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    kept = (
        f"```text\n{each}\n```" if re.search(r"^ +\S", each, re.MULTILINE) else _escaped(each) for each in paragraphs
    )
    return "\n\n".join(kept)


def _escaped(text: str) -> str:
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<>\[\]{}$])", r"\\\1", part) for part in parts)
