"""The atlas: arms tuned and tried, drawn at tiny size, and trained where no table package is."""

import json
import subprocess
import sys

import numpy as np
import pytest
from battery import LAB, draw

from sorites.errors import SpecError
from sorites.papers import registry
from sorites.papers.atlas import __main__ as bare
from sorites.papers.atlas.figures import frames_of, summary
from sorites.papers.atlas.settings import SHUFFLED, SIZES, Matrix
from sorites.papers.atlas.trials import FIRST_TUNING_SEED, Arm, best_rate, joined, refused, tried
from sorites.report.figures import results_folder
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

    def train(self, runs, seeds, *, keep=()):
        self.seeds += list(seeds)
        each = runs if isinstance(runs, list) else [runs] * len(seeds)
        rates = np.array([float(run.stages[0].rule.rate) for run in each])
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
    monkeypatch.setattr("sorites.store.source.PACKAGE", tmp_path / "src" / "sorites")
    bare.record("cells", size, tmp_path / "cells", 0)
    assert (tmp_path / "results" / "figures" / "atlas" / "cells" / "data.parquet").is_file()


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
