"""Keys that cannot lie: an edit in what a number is computed by changes its key, an edit elsewhere does not."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sorites
from sorites.store import source
from sorites.store.source import code_of

PACKAGE = Path(sorites.__file__).parent


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder on the path; returns a function that writes a file and one that asks for a key in a new process."""
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
        source._seen.clear()
        return code_of(modules)

    forget()
    yield write, key
    forget()


USES = {
    "at the top": "import helper\n",
    "a name of it": "from helper import factor\n",
    "inside a function": "def f():\n    from helper import factor\n    return factor\n",
    "by import_module": "import importlib\ndef f():\n    return importlib.import_module('helper')\n",
    "by a computed name": "import importlib\ndef f():\n    return importlib.import_module('hel' + 'per')\n",
    "behind another": "import deeper\n",
}


@pytest.mark.parametrize("use", USES)
def test_an_edited_helper_changes_the_key(place, use):
    write, key = place
    write("mine.py", USES[use])
    write("deeper.py", "def f():\n    import helper\n")
    write("helper.py", "factor = 1\n")
    write("other.py", "unused = 1\n")
    before = key("mine")
    write("helper.py", "factor = 100\n")
    assert key("mine") != before
    write("helper.py", "factor = 1\n")
    assert key("mine") == before
    if use != "by a computed name":  # which might be anything beside the file
        write("other.py", "unused = 2\n")
        assert key("mine") == before


def test_a_package_counts_whole(place):
    """Its names may be resolved lazily, as those of sorites are."""
    write, key = place
    write("mine.py", "import lazy\nvalue = lazy.factor\n")
    write(
        "lazy/__init__.py",
        "import importlib\nHOMES = {'factor': '.numbers'}\ndef __getattr__(name):\n"
        "    return getattr(importlib.import_module(HOMES[name], __name__), name)\n",
    )
    write("lazy/numbers.py", "from . import deep\nfactor = 1\n")
    write("lazy/deep/__init__.py", "")
    before = key("mine")
    write("lazy/numbers.py", "from . import deep\nfactor = 2\n")
    middle = key("mine")
    write("lazy/deep/__init__.py", "one = 1\n")
    assert len({before, middle, key("mine")}) == 3


def test_what_is_installed_counts_by_its_version(place, monkeypatch):
    write, key = place
    write("mine.py", "import scipy.stats\n")
    before = key("mine")
    monkeypatch.setattr(source, "_version", lambda root: f"{root}==0.0.0")
    assert key("mine") != before


def test_a_distribution_in_a_folder_of_its_own_counts_by_its_version(place):
    """As `pip install --target` puts it; a namespace beside it, whose parent is not imported, is passed over."""
    write, key = place

    def ask():
        source._distributions.cache_clear()
        source._places.cache_clear()
        source._version.cache_clear()
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


def test_an_edit_in_one_paper_leaves_the_others_alone(tmp_path):
    """In a copy of the package: keys of a claim of each paper before and after edits."""
    copy = tmp_path / "sorites"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import json\nfrom sorites.papers.registry import code, papers\n"
        "few = [papers()[slug] for slug in ('log-icot', 'lego', 'atlas')]\n"
        "print(json.dumps({each.slug: code(each.slug, next(iter(each.claims().values())).check) for each in few}))"
    )

    def keys():
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def edit(name):
        with (copy / name).open("a") as file:
            file.write("\n# edited\n")

    before = keys()
    edit("papers/lego/schematics.py")
    after = keys()
    assert [slug for slug in before if after[slug] != before[slug]] == ["lego"]
    edit("report/page.py")
    edit("cli/main.py")
    assert keys() == after
    edit("theory/precision.py")
    assert all(value != after[slug] for slug, value in keys().items())
    after = keys()
    edit("ledger/comparison.py")
    assert all(value != after[slug] for slug, value in keys().items())


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
