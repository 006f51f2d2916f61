"""The atlas: arms tuned and tried, drawn at tiny size, and trained where no table package is."""

import dataclasses
import json
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from battery import LAB, draw

from sorites.errors import SpecError
from sorites.papers import registry
from sorites.papers.atlas import __main__ as bare
from sorites.papers.atlas.findings import find_cells, find_rl, findings
from sorites.papers.atlas.settings import SHUFFLED, SIZES, Matrix
from sorites.papers.atlas.tables import frames_of, summary
from sorites.papers.atlas.trials import FIRST_TUNING_SEED, POINTS, Arm, best_rate, expected, joined, refused, tried
from sorites.report.figures import recorded, results_folder
from sorites.store.tables import read_tables
from sorites.training.lab import PLAIN

FIGURES = registry.papers()["atlas"].figures()


@pytest.mark.parametrize("id", FIGURES)
def test_figures(id):
    draw(FIGURES[id])


def test_budgets_are_equal():
    for size in SIZES["gpt-icot"].values():
        steps = [sum(int(stage.steps) for stage in arm.make(1e-3).stages) for arm in size.arms()]
        assert max(steps) <= max(size.steps, 7 * size.every)
        assert min(steps) >= 0.9 * min(size.steps, max(steps))
    for size in SIZES["lego-rl"].values():
        assert {sum(int(stage.steps) for stage in arm.make(1e-3).stages) for arm in size.arms()} == {size.steps}


class Scripted:
    """A lab in which one rate works."""

    def __init__(self, good):
        self.good, self.seeds = good, []

    def keep(self, spec, make, like=None):
        raise AssertionError

    def train(self, runs, seeds, *, snapshots=()):
        self.seeds += list(seeds)
        each = runs if isinstance(runs, list) else [runs] * len(seeds)
        rates = np.array([float(run.stages[0].optimizer.rate) for run in each])
        solved = np.where(np.isclose(rates, self.good), 25, -1)

        class Found:
            class history:
                solved_at, samples = solved, np.full(len(solved), 10)

        return Found


def test_tuning_takes_the_best_rate_on_seeds_of_its_own():
    arm = SIZES["gpt-icot"]["tiny"].arms()[0]
    lab = Scripted(1e-3)
    assert best_rate(arm, 2, lab) == 1e-3
    assert best_rate(arm, 2, Scripted(5.0)) == 1e-3  # nothing works: the smallest
    assert min(lab.seeds) >= FIRST_TUNING_SEED


def test_shuffled_labels_teach_nothing_and_refusals_say_why():
    size = SIZES["cells"]["tiny"]
    arms = {arm.labels: arm for arm in size.arms()}
    parts = [tried(arms["parity", "gated", SHUFFLED], 1, 2, LAB), refused(arms["parity", "decoder", SHUFFLED])]
    rows = summary(frames_of(joined(parts)))
    assert rows[0]["solved"] == 0
    assert rows[1]["members"] == 0
    assert "LEGO" in rows[1]["why"]


def test_a_bare_machine_trains_and_a_record_draws(tmp_path, monkeypatch):
    program = (
        "import sys\n"
        "for name in ('polars', 'matplotlib', 'rich', 'scipy', 'safetensors', 'diffrax'): sys.modules[name] = None\n"
        "import sorites.papers.atlas.__main__ as bare\n"
        "print(sorted(bare.SIZES))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "gpt-icot" in done.stdout
    size = SIZES["cells"]["tiny"]
    bare.train("cells", size, tmp_path / "cells", float("inf"))
    paths = sorted((tmp_path / "cells").glob("*.npz"))
    assert len(paths) == len(size.arms())
    monkeypatch.setattr(bare, "tried", lambda *_: pytest.fail("trained again"))
    bare.train("cells", size, tmp_path / "cells", float("inf"))
    monkeypatch.setattr("sorites.store.closure.PACKAGE", tmp_path / "src" / "sorites")
    bare.record("cells", size, tmp_path / "cells")
    assert (tmp_path / "results" / "figures" / "atlas" / "cells" / "data.parquet").is_file()


def test_an_arm_begun_elsewhere_is_left_to_it(tmp_path, monkeypatch, capsys):
    """The other process is killed in the middle; then its arm is anyone's."""
    size = SIZES["cells"]["tiny"]
    monkeypatch.setattr(bare, "tried", lambda arm, *_: refused(arm))
    folder = tmp_path / "cells"
    folder.mkdir()
    lock = bare.place(folder, size.arms()[0].labels).with_suffix(".lock")
    program = (
        f"import fcntl, time; file = open({str(lock)!r}, 'a'); fcntl.flock(file, fcntl.LOCK_EX)\n"
        "print(1, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        bare.train("cells", size, folder, float("inf"))
        assert "1 arms begun elsewhere" in capsys.readouterr().out
        other.kill()
    assert len(list(folder.glob("*.npz"))) == len(size.arms()) - 1
    bare.train("cells", size, folder, float("inf"))
    assert len(list(folder.glob("*.npz"))) == len(size.arms())
    assert not list(folder.glob("*.lock"))


def test_the_dearest_arm_goes_first():
    size = Matrix(("parity/gated", "parity/gpt", "parity/decoder"), ("direct", "process-reward"))
    names = ["/".join(arm.labels[1:]) for arm in sorted(size.arms(), key=expected, reverse=True)]
    assert names[:2] == ["gpt/process-reward", "gpt/direct"]
    assert names[-2:] == ["decoder/direct", "decoder/process-reward"]


def test_every_cell_has_the_same_budget_and_the_controls_are_what_they_say():
    size = Matrix(("parity/gated", "parity/gpt"), steps=600)
    made = {arm.labels[1:]: arm.make(arm.rates[0]) for arm in size.arms() if arm.make}
    assert {sum(int(stage.steps) for stage in run.stages) for run in made.values()} == {600}
    for model in ("gated", "gpt"):
        [answer], staged = made[model, "direct"].stages, made[model, "log-icot"].stages
        [answer], staged = (
            answer.supervisions,
            staged[-1].supervisions[0],
        )  # no curriculum: Log-ICoT's last stage from the start
        assert np.array_equal(answer.where, staged.where)
        assert np.array_equal(answer.prefix.shown[:-1], staged.prefix.shown[:-1])  # what stands before the answer
        assert np.flatnonzero(~answer.prefix.shown).tolist() == [8, 9, 10]  # pause tokens in the places of thoughts
        [term] = made[model, SHUFFLED].stages[0].supervisions
        assert term.flips == 0.5
    absent = SIZES["gpt-icot"]["quick"].run("absent", 1e-3)
    assert absent.task.layout.thoughts == 1  # nothing between inputs and answer


def test_a_curve_ends_where_its_member_does():
    size = SIZES["cells"]["tiny"]
    [arm] = [arm for arm in size.arms() if arm.labels[1:] == ("gated", "teacher-forcing")]
    found = tried(arm, 1, 2, LAB)
    assert found["curve"].shape == (2, POINTS)
    names = ("curve_steps", "curve", "solved", "solved_at")
    for steps, values, solved, at in zip(*(found[name] for name in names), strict=True):
        last = np.flatnonzero(~np.isnan(values))[-1]
        assert steps[0] == 0
        assert np.all(np.diff(steps[: last + 1]) > 0)
        if solved:
            assert (steps[last], values[last]) == (at, 1.0)
    frames = frames_of(joined([found, refused(size.arms()[-1])]))
    assert frames["curves"].height == int((~np.isnan(found["curve"])).sum())


def test_the_quick_matrix_has_sixty_cells():
    """Those that `bench/cells.py` found to train, and the control of each pair."""
    rows = json.loads((results_folder() / "cells.json").read_text())["cells"]
    pairs = set(Matrix().pairs)
    trains = sum(f"{row['task']}/{row['model']}" in pairs for row in rows)
    assert trains + len(pairs) >= 60
    with pytest.raises(SpecError, match="task/model"):
        Matrix(pairs=("parity",))


def test_an_arm_without_a_run_is_one_row():
    found = tried(Arm(("a", "b"), None, "why not"), 1, 4, PLAIN)
    assert {len(values) for values in found.values()} == {1}


def counted(labels, solved, members=64):
    """A table of one arm's members."""
    arm = {f"label{number}": np.array([label] * members) for number, label in enumerate(labels, start=1)}
    right = np.arange(members) < solved
    whole = dict.fromkeys(("samples", "labels", "thoughts", "passes", "solved_at"), np.where(right, 100, 1000))
    empty = dict.fromkeys(("curve_steps", "curve"), np.full((members, POINTS), np.nan, np.float32))
    rest = {"why": np.array([""] * members), "rate": np.ones(members), "seed": np.arange(members), "solved": right}
    return {**arm, **rest, **whole, "flops": np.ones(members), "diverged": np.zeros(members, bool), **empty}


def test_findings_say_what_the_intervals_decide():
    """A contrast is told where two intervals do not meet, and only there."""
    counts = {("gated", "log-icot"): 64, ("gated", "direct"): 0, ("gpt", "log-icot"): 3, ("gpt", "direct"): 1}
    frames = frames_of(joined([counted(("parity", *labels), right) for labels, right in counts.items()]))
    said = find_cells(frames, SIZES["cells"]["paper"])
    assert "1 of 4 cells bring most of their 64 members to the goal, 1 bring none." in said
    assert "gated 64 of 64 (0.94 to 1.00) against 0 of 64 (0.00 to 0.06)" in said
    assert said.endswith("more for gated, not told apart for 1 of 2 models.")
    starts = [counted(("outcome-reward", "from scratch"), 0), counted(("outcome-reward", "after forcing"), 64)]
    frames = frames_of(joined(starts))
    size = SIZES["lego-rl"]["paper"]
    assert "bring all 64 members there before anything else" in find_rl(frames, size)
    few = dataclasses.replace(size, forced=50)
    assert "by which 0 of 64 members stood at the goal: outcome-reward 64 of 64" in find_rl(frames, few)


def test_the_page_of_the_atlas_says_what_the_records_say():
    folder = results_folder() / "figures" / "atlas"
    records = {path.name: found for path in folder.iterdir() if (found := read_tables(path)) is not None}
    assert records
    text = (results_folder().parent / "docs" / "site" / "atlas.md").read_text()
    listed = text.split("## Findings")[1].split("\n## ")[0]
    found = [" ".join(each.split()) for each in re.split(r"^\d\. ", listed, flags=re.MULTILINE)[1:]]
    assert found == findings(records)


@pytest.mark.parametrize("name", sorted(path.name for path in (results_folder() / "figures" / "atlas").iterdir()))
def test_a_record_is_of_the_settings_that_stand_here(name):
    """Else a figure would be trained again."""
    figure = name.removesuffix("-quick")
    size = SIZES[figure]["quick" if name.endswith("-quick") else "paper"]
    assert recorded(FIGURES[f"atlas/{figure}"], dataclasses.asdict(size)) is not None


def test_a_plan_that_ends_early_without_the_goal_has_failed():
    """Four of six end without it, cheaply: no median, however few were still under way."""
    data = {"label1": ["arm"] * 6, "why": [""] * 6, "rate": [1.0] * 6, "passes": [1] * 6, "seed": range(6),
            "solved": [True, True, False, False, False, False], "samples": [300, 400, 100, 100, 200, 200]}  # fmt: skip
    [row] = summary({"data": pl.DataFrame(data)})
    assert row["median"].value == np.inf
    assert row["median"].bound == 400


def test_a_gpt_that_internalises_is_counted_without_a_median_that_half_never_reached():
    """The record on the page: four of sixteen."""
    rows = {row["labels"][0]: row for row in summary(read_tables(results_folder() / "figures" / "atlas" / "gpt-icot"))}
    for row in rows.values():
        assert np.isfinite(row["median"].value) == (2 * row["solved"] >= row["members"])
