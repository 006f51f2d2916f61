"""Every claim of LEGO at tiny scale, and every figure from its tables."""

import equinox as eqx
import jax
import pytest
from battery import draw, draw_recorded, judge

from sorites.papers.lego.monitors import first_violation, learned_features, simply_transitive
from sorites.papers.lego.setting import CYCLIC3, Theory
from sorites.papers.paper import PAPERS
from sorites.report.figures import results_folder
from sorites.tasks import action_named

PAPER = PAPERS["lego"]
CLAIMS, FIGURES = PAPER.claims(), PAPER.figures()
NEW = ("concentration", "dilution", "plateau", "features", "separation")


def test_the_catalogue_is_complete():
    assert list(CLAIMS) == [f"L{number}" for number in range(1, 23)]
    assert {f"lego/{name}" for name in ("1a", "1b", "2", "3", "4", "5", "6", "7", *NEW)} == set(FIGURES)


@pytest.mark.parametrize("id", CLAIMS)
def test_claims_come_out_as_expected(id):
    judge(CLAIMS[id])


@pytest.mark.parametrize("id", FIGURES)
def test_figures_draw_from_their_tables(id):
    draw(FIGURES[id])


@pytest.mark.parametrize("id", [id for id, figure in FIGURES.items() if "paper" in figure.sizes])
def test_recorded_tables_draw_at_paper_scale(id):
    figure = FIGURES[id]
    size = figure.sizes["paper"]
    folder = results_folder() / "figures" / "lego" / figure.name
    if not folder.exists():
        pytest.skip("not recorded")
    draw_recorded(figure, size)


def test_monitors_name_the_first_violation():
    held = simply_transitive(Theory(60, 3.0, 60).run("C6"), 60, 3.0)
    assert all(first_violation(holds) is None for holds in held.values())
    assert first_violation(held["[Q43] never falls (D.1a-D.3a)"] & False) == 0


def test_the_monitors_of_stage_1_see_what_is_unlearned():
    """Run backwards, a history forgets: then a learned combination does not stay learned."""
    history = CYCLIC3.run(0)[1]
    held = learned_features(history, action_named("C3"))
    assert all(holds.all() for holds in held.values())
    backwards = jax.tree.map(lambda leaf: leaf[::-1], history.features)
    forgotten = (backwards.actions.at[-1].set(0), backwards.values.at[-1].set(0))
    backwards = eqx.tree_at(lambda features: (features.actions, features.values), backwards, forgotten)
    broken = learned_features(history._replace(features=backwards), action_named("C3"))
    assert not broken["a learned combination stays learned (B.4, C.4)"].all()
