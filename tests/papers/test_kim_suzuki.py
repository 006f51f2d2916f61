"""Every claim of kim-suzuki at tiny scale, and every figure from its tables."""

import numpy as np
import pytest
from battery import draw, draw_recorded, judge

from sorites.errors import SpecError
from sorites.papers.kim_suzuki.grids import LARGE, LARGE_LAWS
from sorites.papers.kim_suzuki.published import Published
from sorites.papers.kim_suzuki.sample_law import SampleLaw
from sorites.papers.kim_suzuki.theorems import LogSteps, OneStep
from sorites.papers.registry import papers

PAPER = papers()["kim-suzuki"]
CLAIMS, FIGURES = PAPER.claims(), PAPER.figures()
HARDNESS = {f"KS-{number}" for number in range(3, 10)}  # tested in test_kim_suzuki_hardness.py
NAMES = ("1", "2", "3", "exp-k8", "exp-k16", "exp-k32", "exponent", "hardness", "filter-range", "phase")


def test_the_catalogue_is_complete():
    assert list(CLAIMS) == [f"KS-{number}" for number in range(1, 34)]
    assert {f"kim-suzuki/{name}" for name in NAMES} == set(FIGURES)


@pytest.mark.parametrize("id", [id for id in CLAIMS if id not in HARDNESS])
def test_claims_come_out_as_expected(id):
    judge(CLAIMS[id])


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("exp-k16", "exp-k32", "phase", "hardness")])
def test_figures_draw_from_their_tables(name):
    draw(FIGURES[f"kim-suzuki/{name}"])


@pytest.mark.parametrize("name", [*LARGE, "phase", "exponent"])
def test_recorded_tables_draw_at_paper_scale(name):
    figure, size = FIGURES[f"kim-suzuki/{name}"], LARGE.get(name, LARGE_LAWS)
    draw_recorded(figure, size)


def test_the_printed_rate_is_d_squared():
    assert OneStep(30, 16, strength=0.0).rate() == 900
    assert OneStep(30, 16, strength=0.0, epsilon=16.0).rate() == pytest.approx(30**3)


def test_every_member_draws_its_own_strings():
    first, second = (LogSteps(seeds=2).run(seed).stages[0].supervisions[0].prefix.filter.strings for seed in (0, 1))
    assert (np.asarray(first) != np.asarray(second)).any()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Published(sparsity=12).run("free"), "power of two"),
        (lambda: Published().run("fre"), "lesson='fre'"),
        (lambda: Published(prediction="root").run("consistent"), "prediction='root'"),
        (lambda: OneStep(oracle="mean", noise=0.1).run(), "oracle='mean'"),
        (lambda: OneStep(strength=-1.0).run(), "strength=-1"),
        (lambda: LogSteps(strings=0).run(), "strings=0"),
        (lambda: SampleLaw(bits=()), r"bits=\(\)"),
        (lambda: SampleLaw(finest=0), "finest=0"),
    ],
)
def test_settings_that_cannot_run_are_refused(build, words):
    with pytest.raises(SpecError, match=words):
        build()
