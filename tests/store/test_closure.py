"""Keys that cannot lie: an edit of the code that computes a number changes its key, any other edit does not."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sorites
from sorites.errors import SpecError
from sorites.store import closure as closures
from sorites.store import modules as found
from sorites.store.closure import closure, code_of
from sorites.store.syntax import read

PACKAGE = Path(sorites.__file__).parent


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder on the path; returns a function that writes a file and one that gives a key as a new process would."""
    monkeypatch.syspath_prepend(tmp_path)
    names = ("mine", "helper", "deeper", "lazy", "other")

    def forget():
        for name in [name for name in sys.modules if name.split(".")[0] in names]:
            del sys.modules[name]

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def key(*modules):
        importlib.invalidate_caches()
        closures._seen.clear()
        closures._closures.clear()
        return code_of(modules)

    forget()
    yield write, key
    forget()


USES = {
    "at the top": "import helper\n",
    "a name of it": "from helper import factor\n",
    "inside a function": "def f():\n    from helper import factor\n    return factor\n",
    "by import_module": "import importlib\ndef f():\n    return importlib.import_module('helper')\n",
    "by import_module of another name": "from importlib import import_module as take\nf = lambda: take('helper')\n",
    "by __import__": "def f():\n    return __import__('helper').factor\n",
    "by a computed name": "import importlib\ndef f():\n    return importlib.import_module('hel' + 'per')\n",
    "behind another": "import deeper\n",
    "a module that another has": "from deeper import inner\n",
    "passed on by a package": "def f():\n    from lazy import factor\n    return factor\n",
    "renamed on the way": "import lazy as l\nf = lambda: l.other_name\n",
    "all names of a package": "from lazy import *\n",
    "a part of a package": "from lazy import part\n",
    "an attribute of a package": "import lazy\nf = lambda name: getattr(lazy, name)\n",
    "in a condition": "import sys\nif sys.version_info > (3,):\n    import helper\nelse:\n    helper = None\n",
}


@pytest.mark.parametrize("use", USES)
def test_an_edited_helper_changes_the_key(place, use):
    write, key = place
    write("mine.py", USES[use])
    write("deeper.py", "import helper as inner\ndef f():\n    import helper\n")
    write(
        "lazy/__init__.py", "from helper import factor\nfrom helper import factor as other_name\nfrom . import part\n"
    )
    write("lazy/part.py", "import helper\n")
    write("helper.py", "factor = 1\n")
    write("other.py", "unused = 1\n")
    before = key("mine")
    write("helper.py", "factor = 100\n")
    assert key("mine") != before
    write("helper.py", "# one\nfactor = (1)\n")
    assert key("mine") == before
    if use != "by a computed name":  # which might be anything beside the file
        write("other.py", "unused = 2\n")
        assert key("mine") == before


def test_what_only_type_checkers_import_does_not_count(place):
    write, key = place
    write(
        "mine.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import helper\nelse:\n    import other\n"
    )
    write("helper.py", "factor = 1\n")
    write("other.py", "factor = 1\n")
    before = key("mine")
    write("helper.py", "factor = 2\n")
    assert key("mine") == before
    write("other.py", "factor = 2\n")
    assert key("mine") != before


def test_a_sibling_that_a_package_passes_on_does_not_count(place):
    write, key = place
    write("mine.py", "from lazy import factor\n")
    write("lazy/__init__.py", "from .one import factor\nfrom .two import other\nTABLE = {'one': factor}\n")
    write("lazy/one.py", "factor = 1\n")
    write("lazy/two.py", "other = 1\n")
    before = key("mine")
    write("lazy/two.py", "other = 2\n")
    assert key("mine") == before
    write("lazy/one.py", "factor = 2\n")
    assert key("mine") != before


@pytest.mark.parametrize(
    "act", ["import helper\nhelper.start()\n", "from helper import start\nX = start()\n", "def f(): ...\nf()\n"]
)
def test_what_a_package_does_on_import_counts(place, act):
    write, key = place
    write("mine.py", "from lazy.one import factor\n")
    write("helper.py", "def start(): return 1\n")
    write("lazy/__init__.py", act)
    write("lazy/one.py", "factor = 1\n")
    before = key("mine")
    if "helper" in act:
        write("helper.py", "def start(): return 2\n")
        middle = key("mine")
        assert middle != before
        before = middle
    write("lazy/__init__.py", act.replace("...", "print()") + "print(1)\n")
    assert key("mine") != before


LAZY = (
    "import importlib\nHOMES = {'factor': '.numbers'}\ndef __getattr__(name):\n"
    "    return getattr(importlib.import_module(HOMES[name], __name__), name)\n"
)


def test_a_lazy_package_without_a_stub_counts_whole(place):
    write, key = place
    write("mine.py", "import lazy\nvalue = lazy.factor\n")
    write("lazy/__init__.py", LAZY)
    write("lazy/numbers.py", "from . import deep\nfactor = 1\n")
    write("lazy/deep/__init__.py", "")
    before = key("mine")
    write("lazy/numbers.py", "from . import deep\nfactor = 2\n")
    middle = key("mine")
    write("lazy/deep/__init__.py", "one = 1\n")
    assert len({before, middle, key("mine")}) == 3


def test_a_lazy_package_with_a_stub_counts_by_name(place):
    write, key = place
    write("mine.py", "import lazy\nvalue = lazy.factor\n")
    write("lazy/__init__.py", LAZY)
    write("lazy/__init__.pyi", "from .numbers import factor as factor\nfrom .deep import one as one\n")
    write("lazy/numbers.py", "factor = 1\n")
    write("lazy/deep.py", "one = 1\n")
    before = key("mine")
    write("lazy/deep.py", "one = 2\n")
    assert key("mine") == before
    write("lazy/numbers.py", "factor = 2\n")
    assert key("mine") != before


def test_what_is_installed_counts_by_its_version(place, monkeypatch):
    write, key = place
    write("mine.py", "import scipy.stats\n")
    before = key("mine")
    assert closure(["mine"])["scipy"].startswith("scipy==")
    monkeypatch.setattr(closures, "version_of", lambda root: f"{root}==0.0.0")
    assert key("mine") != before
    assert "jax" not in closure(["sorites.models.gated"])  # meta.json has the versions of the core's libraries


def test_a_distribution_in_a_folder_of_its_own_counts_by_its_version(place):
    """As `pip install --target` puts it; a namespace beside it, whose parent is not imported, is passed over."""
    write, key = place

    def ask():
        found._distributions.cache_clear()
        found._places.cache_clear()
        found.version_of.cache_clear()
        return key("mine")

    def install(version):
        write("helper-1.dist-info/METADATA", f"Metadata-Version: 2.1\nName: helper\nVersion: {version}\n")
        write("helper-1.dist-info/RECORD", "helper.py,,\nhelper-1.dist-info/METADATA,,\nhelper-1.dist-info/RECORD,,\n")
        write("helper-1.dist-info/top_level.txt", "helper\n")

    write("mine.py", "import helper\nimport lazy.inner.deep\n")
    write("helper.py", "factor = 1\n")
    write("lazy/inner/deep.py", "one = 1\n")
    install(1)
    before = ask()
    write("helper.py", "factor = 2\n")
    assert ask() == before
    install(2)
    assert ask() != before
    shutil.rmtree(Path(sys.path[0]) / "helper-1.dist-info")
    own = ask()
    write("helper.py", "factor = 33\n")
    assert ask() != own


def test_a_module_that_is_missing_may_appear(place):
    write, key = place
    write("mine.py", "try:\n    import helper\nexcept ImportError:\n    helper = None\n")
    before = key("mine")
    write("helper.py", "factor = 1\n")
    assert key("mine") != before


def test_a_file_that_is_edited_after_its_import_is_refused(place, tmp_path):
    write, key = place
    write("mine.py", "import helper\n")
    write("helper.py", "factor = 1\n")
    importlib.import_module("mine")
    before = key("mine")
    write("helper.py", "# a comment\nfactor = 1\n")
    assert code_of(["mine"]) == before  # another time and size, the same code
    write("helper.py", "factor = 22\n")
    with pytest.raises(SpecError, match=r"helper\.py was edited after it was imported; restart Python"):
        code_of(["mine"])
    importlib.reload(sys.modules["helper"])
    assert code_of(["mine"]) != before


def test_a_file_may_be_edited_before_it_is_imported(place):
    write, key = place
    write("mine.py", "import helper\n")
    write("helper.py", "factor = 1\n")
    before = key("mine")
    write("helper.py", "factor = 22\n")
    assert code_of(["mine"]) != before


SAMPLE = b'''"""Words."""
import a.b as c
from . import (d,
    e)
@c.f
class G(d.H, metaclass=e):
    """Words."""
    x: int = 1
    """Words."""
    async def f(self, *a, y=(1, 2.5e-3, 1j, None, ..., b"0", "\xc3\xa9"), **k) -> "int":
        return f"{self!r:>{y}} {k[1:]} {'a' 'b'}" if (z := a) else [*a, {**k}, lambda: (yield)]
try:
    with c as g: del g
except* ValueError: raise
match e:
    case [1, *_] | {"a": d.H(x=2)}: pass
'''


def test_the_digest_does_not_depend_on_the_version_of_python():
    """The same tree is spelt alike by Python 3.11, 3.12 and 3.13."""
    assert read(SAMPLE, "p").digest == "58352784a5f1714b"
    words = SAMPLE.replace(b'"""Words."""', b'"""Other words."""').replace(b"try:", b"# a comment\n\ntry:")
    assert read(words, "p").digest == "58352784a5f1714b"
    assert read(SAMPLE.replace(b"x: int = 1", b"x: int = 2"), "p").digest != "58352784a5f1714b"


def test_the_core_imports_modules_by_names_that_are_written_out():
    """In sorites a computed name means a paper, or a name that the stub of `sorites` lists."""
    for folder in ("theory", "statistics", "tasks", "models", "supervision", "training", "ledger"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            assert not read(path.read_bytes(), "p").computed, path


MINE = """
import helper_of_mine
from sorites import Sampled


class Slowed(Sampled):
    def gradient(self, objective, model, task, draw):
        loss, slope = super().gradient(objective, model, task, draw)
        return loss * helper_of_mine.factor(), slope
"""
KEYS = """
import json
import mine
import sorites as so
from sorites.store import member_id


def run(task, model, source=so.Sampled):
    stage = so.Stage(task, (so.teacher_forcing(task.layout),), source(16), so.GD(0.5), 4, so.Evaluation(2, 16))
    return member_id(so.Run(model, [stage]), 0)


parity, lego = so.Parity(6, 4), so.Lego(so.action_named("C4"), 3, 4)
keys = {name: run(parity, getattr(so, name)(parity)) for name in ("gated", "positional", "perceptron", "gpt")}
keys |= {"decoder": run(lego, so.decoder(lego)), "mine": run(parity, so.gated(parity), mine.Slowed)}
print(json.dumps(keys))
"""


def test_a_key_covers_the_code_that_a_run_imports(tmp_path):
    """In a copy of the package, in a new process after each edit."""
    copy = tmp_path / "sorites"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "script.py").write_text(KEYS)
    (tmp_path / "mine.py").write_text(MINE)
    helper = tmp_path / "helper_of_mine.py"
    helper.write_text("def factor():\n    return 1\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def keys():
        words = [sys.executable, "script.py"]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def edit(name, *change):
        text = (copy / name).read_text()
        assert not change or change[0] in text
        (copy / name).write_text(text.replace(*change, 1) if change else f"{text}\nEDITED = 1\n")

    def changed():
        nonlocal before
        after, former = keys(), before
        before = after
        return {name for name in after if after[name] != former[name]}

    before = keys()
    assert len(set(before.values())) == 6
    edit("models/gated.py", '"""', '"""Other words. ')
    edit("training/ensemble.py", '    """', '    """Other words. ')
    edit("supervision/sources.py", "\n\n\n", "\n\n# a comment\n\n\n\n")
    edit("models/links.py", "import", "\n\nimport")
    helper.write_text("def factor():\n    # a comment\n    return (1)\n")
    assert changed() == set()
    for name in ("report/page.py", "papers/log_icot/experiments.py", "drawing/plotting.py", "store/store.py"):
        edit(name)
    edit("models/decoder.py")
    assert changed() == {"decoder"}
    edit("models/gated.py")
    assert changed() == {"gated", "mine"}
    edit("models/gpt.py")
    helper.write_text("def factor():\n    return 2\n")
    assert changed() == {"gpt", "mine"}
    edit("supervision/sources.py")
    assert changed() == set(before)


def test_an_edit_in_one_paper_leaves_the_others_alone(tmp_path):
    """In a copy of the package: keys of a claim of each paper before and after edits."""
    copy = tmp_path / "sorites"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import json\nfrom sorites.papers.registry import code, measuring_code, papers\n"
        "few = [papers()[slug] for slug in ('log-icot', 'lego', 'atlas')]\n"
        "keys = {each.slug: code(each.slug, next(iter(each.claims().values())).check) for each in few}\n"
        "figure = papers()['lego'].figures()['lego/epochs']\n"
        "keys['figure'] = measuring_code(figure.measure, figure.sizes['quick'])\n"
        "print(json.dumps(keys))"
    )

    def keys():
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def edit(name, text="\nEDITED = 1\n"):
        with (copy / name).open("a") as file:
            file.write(text)

    def changed():
        nonlocal before
        after, former = keys(), before
        before = after
        return {name for name in after if after[name] != former[name]}

    before = keys()
    edit("papers/lego/rate_claims.py", "\n# a comment\n")
    edit("ledger/verify.py", "\n# a comment\n")
    edit("report/page.py")
    edit("cli/main.py")
    assert changed() == set()
    edit("papers/lego/rate_claims.py")
    assert changed() == {"lego"}
    edit("papers/lego/separation_figures.py")
    assert changed() == {"figure"}
    edit("ledger/comparison.py")
    assert changed() >= {"log-icot", "lego", "atlas"}


RUN = """
import sorites as so
import helper_of_mine


class Slowed(so.Sampled):
    def gradient(self, objective, model, task, draw):
        loss, slope = super().gradient(objective, model, task, draw)
        return loss * helper_of_mine.factor, slope


task = so.Parity(6, 4)
stage = so.Stage(task, (so.teacher_forcing(task.layout),), Slowed(16), so.GD(0.5), 4, so.Evaluation(2, 16))
run = so.Run(so.gated(task), [stage])
"""


def test_an_edited_helper_of_a_run_file_trains_again(tmp_path):
    """The audit's case: the helper lies beside the file, the file is not touched."""
    (tmp_path / "mine.py").write_text(RUN)
    words = [sys.executable, "-m", "sorites.cli.main", "run", "mine.py", "--seeds", "1", "--quiet"]

    def losses():
        subprocess.run(words, cwd=tmp_path, check=True)
        query = [
            *words[:3],
            "runs",
            "query",
            'select member, max("training.loss") as loss from history group by member',
        ]
        done = subprocess.run([*query, "--json", "-"], cwd=tmp_path, capture_output=True, text=True, check=True)
        return {row["member"]: row["loss"] for row in json.loads(done.stdout)}

    (tmp_path / "helper_of_mine.py").write_text("factor = 1\n")
    first = losses()
    assert losses() == first
    (tmp_path / "helper_of_mine.py").write_text("factor = 100\n")
    second = losses()
    assert len(first) == 1
    assert len(second) == 2
    small, large = sorted(second.values())
    assert large == pytest.approx(100 * small, rel=1e-5)
