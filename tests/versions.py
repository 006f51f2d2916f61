"""make versions: a subset of the tests with the oldest releases that pyproject.toml allows, with the newest, and with
the newest on every other Python that it names and this machine has. What ran is written to docs/versions.json, which
the site shows.

python tests/versions.py [oldest newest newest-3.12 ...]
"""

import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "versions.json"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TOOLS = ("pytest", "hypothesis", "beartype")
COVERS = {  # what a release of jax, equinox, optax or scipy has broken elsewhere
    "closed forms and laws, in float64": ("tests/theory/test_laws.py", "tests/theory/test_new_laws.py"),
    "censored times and intervals": ("tests/statistics",),
    "gates and group actions": ("tests/tasks/test_gates.py", "tests/tasks/test_actions.py"),
    "links and masks": ("tests/models/test_links.py", "tests/models/test_masks.py"),
    "a model against its literal twin": ("tests/models/test_twins.py::test_open_gates_shut_as_prescribed_are_gated",),
    "rules, and a trained ensemble": (
        "tests/training/test_optimizers.py",
        "tests/training/test_ensemble.py::test_the_shape_of_a_history",
    ),
    "specs and their hashes": ("tests/store/test_spec.py",),
    "the import order": ("tests/test_imports.py",),
}


def bounds() -> list[str]:
    """The oldest release of every requirement."""
    return [re.sub(r"\[.*\]", "", each).replace(">=", "==") for each in PROJECT["dependencies"]]


def interpreter(name: str) -> str:
    """newest-3.12 is python3.12's; a bare name that of the Python that runs this."""
    _, _, number = name.partition("-")
    return (shutil.which(f"python{number}") or "") if number else sys.executable


def prepared(name: str) -> Path:
    """The python of an environment of its own; made anew where what it should hold has changed."""
    folder = ROOT / "build" / "versions" / name
    wanted = "\n".join([*(bounds() if name == "oldest" else PROJECT["dependencies"]), *TOOLS]) + "\n"
    python, mark = folder / "bin" / "python", folder / "wanted.txt"
    if not mark.exists() or mark.read_text() != wanted:
        subprocess.run([interpreter(name), "-m", "venv", "--clear", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *wanted.split()], check=True)
        subprocess.run([*pip, "--no-deps", "--editable", ROOT], check=True)
        mark.write_text(wanted)
    return python


def installed(python: Path) -> dict[str, str]:
    names = [re.split("[>=<[]", each)[0] for each in (*PROJECT["dependencies"], "jaxlib")]
    found = "{n: m.version(n) for n in sys.argv[1:]} | {'Python': platform.python_version()}"
    program = f"import importlib.metadata as m, json, platform, sys; print(json.dumps({found}))"
    said = subprocess.run([python, "-c", program, *names], check=True, capture_output=True, text=True).stdout
    return dict(sorted(json.loads(said).items()))


def judged(name: str) -> dict:
    python = prepared(name)
    files = [path for paths in COVERS.values() for path in paths]
    begun = time.monotonic()
    # An old release may use what its own requirements have deprecated since; the newest may not.
    old = ["-W", "ignore::DeprecationWarning"] if name == "oldest" else []
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", "--verbosity=0", "--durations=8", *old, *files]
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)
    print(done.stdout, end="")
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|errors?)", done.stdout)}
    return {
        "versions": installed(python), "passed": done.returncode == 0, "tests": counts,
        "seconds": round(time.monotonic() - begun),
    }  # fmt: skip


def main(names: list[str]) -> int:
    passed = []
    for name in names:
        now = judged(name)
        print(name, json.dumps(now))
        passed.append(now["passed"])
        found = (json.loads(RECORD.read_text()) if RECORD.exists() else {}) | {name: now}
        ordered = {each: found[each] for each in sorted(found, key=lambda each: (each != "oldest", each))}
        RECORD.write_text(json.dumps(ordered, indent=1) + "\n")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    pythons = [each.rsplit(" ", 1)[-1] for each in PROJECT["classifiers"] if "Python :: 3." in each]
    others = [f"newest-{each}" for each in pythons if each != f"3.{sys.version_info.minor}"]
    raise SystemExit(main(sys.argv[1:] or ["oldest", "newest", *(each for each in others if interpreter(each))]))
