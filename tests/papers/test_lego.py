"""Every claim of LEGO at tiny scale, and every figure from its tables."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest
from battery import draw, draw_recorded, judge

from sorites.errors import SpecError
from sorites.models.routing import uniform
from sorites.papers.lego.arms import Decoding
from sorites.papers.lego.attention_claims import Dilution
from sorites.papers.lego.data_claims import Actions, Drawn, Loads
from sorites.papers.lego.decoder_claims import Permuted
from sorites.papers.lego.feature_claims import Stage1
from sorites.papers.lego.gradient_claims import Literal
from sorites.papers.lego.grids import TINY, Study
from sorites.papers.lego.length_claims import Lengths, SelfTraining
from sorites.papers.lego.monitors import first_violation, learned_features, simply_transitive
from sorites.papers.lego.plateau_claims import Plateau
from sorites.papers.lego.power_claims import Power, noisy_power
from sorites.papers.lego.rate_claims import Rate
from sorites.papers.lego.recursion_claims import Longest, Whole
from sorites.papers.lego.setting import CYCLIC3, Theory, accuracies, masses
from sorites.papers.lego.theory_figures import Longer
from sorites.papers.lego.variable_claims import Retrieval
from sorites.papers.registry import papers
from sorites.report.figures import results_folder
from sorites.tasks import action_named

PAPER = papers()["lego"]
CLAIMS, FIGURES = PAPER.claims(), PAPER.figures()
NEW = ("concentration", "dilution", "plateau", "features", "separation", "epochs")


def test_the_catalogue_is_complete():
    assert list(CLAIMS) == [f"L{number}" for number in range(1, 26)]
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


@pytest.mark.parametrize("scale", ["tiny", "quick", "paper"])
def test_a_fixed_set_is_seen_300_times(scale):
    size = FIGURES["lego/epochs"].sizes[scale]
    assert size.steps * size.batch == 300 * size.pool


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


def test_accuracy_is_of_the_length_asked():
    """Attention that is spread evenly cannot write a long sentence, of whatever length."""
    action, theory = action_named("C3"), Theory(300, 3.0)
    right = accuracies(theory.features(action), uniform(), action, (2, 200), 50)
    assert right.shape == (2,)
    assert right[1] == 0
    end = Theory(60, 3.0, 200).run("C3").end
    assert accuracies(Theory(60, 3.0).features(action), end, action, (200,), 20)[0] == 1


def test_small_attention_errors_do_not_round_away():
    found = masses(Theory(60, 3.0, 3_000).run("C3"))
    assert 0 < float(found.error[-1]) < 1e-9
    assert np.all(np.diff(np.asarray(found.error, float)[-1_000:]) < 0)


@pytest.mark.parametrize("power", [2, 3, 4, 5])
def test_powers_of_a_noisy_number(power):
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    exact = float((weights * (0.7 + 0.3 * nodes) ** power).sum() / weights.sum())
    assert noisy_power(0.7, 0.3, power) == pytest.approx(exact)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Theory(variables=0), "variables=0"),
        (lambda: Theory(clipping=-3.0), "clipping=-3"),
        (lambda: Theory(clipping=0.0), "clipping=0"),
        (lambda: Theory(slowing=0.0), "slowing=0"),
        (lambda: Theory(rate=-0.1), "rate=-0.1"),
        (lambda: Theory(steps=0), "steps=0"),
        (lambda: Plateau(actions=()), "name one"),
        (lambda: Dilution(60, lengths=(2, 32)), "length=64"),
        (lambda: Dilution(lengths=(2,)), "two lengths"),
        (lambda: Longer(60, lengths=(2, 64)), "length=64"),
        (lambda: Lengths(160), "length=160"),
        (lambda: SelfTraining(stages=6), "length=256"),
        (lambda: SelfTraining(stages=0), "stages=0"),
        (lambda: Rate(action="S4"), "action=S4"),
        (lambda: Rate(variables=(1000,)), "variables=\\(1000,\\)"),
        (lambda: Rate(errors=(0.01, 0.02)), "errors"),
        (lambda: Rate(exponents=(0.5, 1.5)), "exponents"),
        (lambda: Whole(stages=7), "stages=7"),
        (lambda: Longest(variables=(4, 33)), "variables=\\(4, 33\\)"),
        (lambda: Retrieval(variables=1), "variables=1"),
        (lambda: Retrieval(seeds=0), "seeds=0"),
        (lambda: Stage1(seeds=0), "seeds=0"),
        (lambda: Power(power=6), "power=6"),
        (lambda: Power(power=2), "power=2"),
        (lambda: Power(start=0.6), "start=0.6"),
        (lambda: Power(lead=1.0), "lead=1"),
        (lambda: Drawn(samples=0), "samples=0"),
        (lambda: Drawn(variables=20), "variables=20"),
        (lambda: Literal(samples=0), "samples=0"),
        (lambda: Permuted(width=0), "width=0"),
        (lambda: Actions(points=1), "points=1"),
        (lambda: Loads(points=1), "points=1"),
        (lambda: Loads(lengths=(4,)), "two or more"),
        (lambda: Loads(lengths=(8, 4)), "sort"),
        (lambda: Study(permutation=(0, 0)), "permutation"),
        (lambda: Study(lengths=(5,)), "lengths"),
        (lambda: Study(variables=100), "variables=100"),
        (lambda: Decoding(steps=0), "steps=0"),
        (lambda: Decoding(steps=100, checks=3), "checks=3"),
        (lambda: Decoding(seeds=0), "seeds=0"),
        (lambda: dataclasses.replace(TINY, stages=(15,)), "stages=\\(15,\\)"),
        (lambda: CLAIMS["L20"].evidence(dataclasses.replace(TINY, lengths=(5, 20), stages=(20,))), "10 and 20"),
    ],
)
def test_settings_that_cannot_run_are_refused(make, words):
    with pytest.raises(SpecError, match=words):
        make()
