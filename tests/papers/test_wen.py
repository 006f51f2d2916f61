"""Every claim of Wen et al. at tiny scale, and every figure from its tables."""

import pytest
from battery import draw, draw_recorded, judge

from sorites.errors import SpecError
from sorites.papers.registry import papers
from sorites.papers.wen.block_claims import Batch
from sorites.papers.wen.bound_claims import Repeated
from sorites.papers.wen.data_claims import Sizes
from sorites.papers.wen.entropy_claims import Lengths
from sorites.papers.wen.experiments import FreshData, best
from sorites.papers.wen.grids import Complexity, Repetitions, shape
from sorites.papers.wen.memory_claims import Learners
from sorites.papers.wen.plateau import Plateaus
from sorites.papers.wen.precision_claims import Precision
from sorites.papers.wen.representation_claims import Networks
from sorites.papers.wen.setting import Small
from sorites.papers.wen.three_steps import Recipe
from sorites.report.figures import results_folder

PAPER = papers()["wen"]
CLAIMS, FIGURES = PAPER.claims(), PAPER.figures()


def test_the_catalogue_is_complete():
    assert list(CLAIMS) == [f"W{number}" for number in range(1, 28)]
    names = [*["1a", "1b", "2a", "2b", "2c", "3a", "3b", "4", "5", "6", "7", "8", "9", "10", "11", "law", "plateau"]]
    assert {f"wen/{name}" for name in names} == set(FIGURES)


@pytest.mark.parametrize("id", CLAIMS)
def test_claims_come_out_as_expected(id):
    judge(CLAIMS[id])


@pytest.mark.parametrize("id", FIGURES)
def test_figures_draw_from_their_tables(id):
    assert FIGURES[id].find is not None
    draw(FIGURES[id])


RECORDED = sorted(path.name for path in (results_folder() / "figures" / "wen").glob("*") if path.is_dir())


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_tables_draw_at_paper_scale(name):
    figure = FIGURES[f"wen/{name}"]
    size = figure.sizes["paper"]
    draw_recorded(figure, size)


def test_the_best_rate_counts():
    rows = [
        {"chain": True, "sparsity": 1, "seed": 0, "rate": 1e-3, "samples": 500, "solved": True},
        {"chain": True, "sparsity": 1, "seed": 0, "rate": 1e-4, "samples": 900, "solved": True},
        {"chain": True, "sparsity": 2, "seed": 0, "rate": 1e-3, "samples": 1000, "solved": False},
        {"chain": True, "sparsity": 2, "seed": 0, "rate": 1e-4, "samples": 900, "solved": True},
    ]
    assert [(row["rate"], row["samples"]) for row in best(rows)] == [(1e-3, 500), (1e-4, 900)]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Recipe(samples=100), "samples=100"),
        (lambda: Recipe(start="one"), "start='one'"),
        (lambda: Recipe(sparsity=0), "sparsity=0"),
        (lambda: shape("4x4"), "4L2H"),
        (lambda: FreshData(heads=5).cases(3, 3), "divisor"),
        (lambda: FreshData(bits=8).cases(3, 3), "held out"),
        (lambda: FreshData(rates=(0.0,)).cases(2, 2), "rate=0.0"),
        (lambda: shape("0L2H"), "4L2H"),
        (lambda: Complexity(layers=2, heads=1), "shapes=2L1H"),
        (lambda: Repetitions(shapes=()), "a shape or more"),
        (lambda: Repetitions(probed=0), "probed=0"),
        (lambda: Batch(bits=4, sparsity=8), "sparsity=8"),
        (lambda: Repeated(trials=0), "trials=0"),
        (lambda: Sizes(bits=40), "bits=40"),
        (lambda: Sizes(sparsity=0), "sparsity=0"),
        (lambda: Small(sparsity=1), "sparsity=1"),
        (lambda: Networks(listed=2), "listed=2"),
        (lambda: Networks(bits=(30,)), "in pairs"),
        (lambda: Precision(bits=(30,)), "two sizes"),
        (lambda: Learners(sparsity=1), "sparsity=1"),
        (lambda: Learners(bits=100, sparsity=10), "C\\(n, k\\)"),
        (lambda: Lengths(tokens=2), "tokens=2"),
        (lambda: Plateaus(sparsities=(1, 2)), "sparsities=\\(1, 2\\)"),
    ],
)
def test_settings_that_cannot_run_are_refused(make, words):
    with pytest.raises(SpecError, match=words):
        make()
