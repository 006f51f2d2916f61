"""Every claim of RL-SFT at tiny scale, every figure from its tables, and the reductions against their literal twins."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest
from battery import draw, draw_recorded, judge

from sorites.errors import SpecError
from sorites.ledger import verify
from sorites.papers.registry import papers
from sorites.papers.rl_sft.exact import reward_gradient, secret_of
from sorites.papers.rl_sft.experiments import Experiment, updates_to_exact
from sorites.papers.rl_sft.grids import LARGE, LONGER, FiniteSamples
from sorites.papers.rl_sft.setting import Stepped
from sorites.papers.rl_sft.symmetric import Symmetric
from sorites.theory.precision import in_float64
from sorites.training import train

PAPER = papers()["rl-sft"]
CLAIMS, FIGURES = PAPER.claims(), PAPER.figures()
OURS = ("estimators", "updates", "outcome-variance", "flow", "finite-samples", "label-noise", "losses", "clipped")


def test_the_catalogue_is_complete():
    assert list(CLAIMS) == [f"RS-{number}" for number in range(1, 40)]
    assert {f"rl-sft/{name}" for name in ("1", "2", "3", "4", "5", "6", "7", *OURS)} == set(FIGURES)


@pytest.mark.parametrize("id", CLAIMS)
def test_claims_come_out_as_expected(id):
    judge(CLAIMS[id])


@pytest.mark.parametrize("id", FIGURES)
def test_figures_draw_from_their_tables(id):
    draw(FIGURES[id])


@pytest.mark.parametrize("name", LARGE)
def test_recorded_tables_draw_at_paper_scale(name):
    draw_recorded(FIGURES[f"rl-sft/{name}"], LARGE[name])


def test_a_theorem_at_her_size():
    verdict = verify(CLAIMS["RS-8"], "tiny", {"bits": "9", "sparsity": "4", "rate": "0.5"})
    assert verdict.verdict == "holds"
    assert verdict.parameters["bits"] == 9


@in_float64
def _symmetric_gap(size: Symmetric) -> float:
    task = size.task()
    where = (np.asarray(task.layout.levels) <= size.steps) / task.layout.thoughts
    weights = jnp.asarray(np.random.default_rng(0).normal(size=len(size.start())))
    short = np.asarray(jax.jit(size.field())(weights))
    whole = np.asarray(reward_gradient(size.spread(weights), task, secret_of(task), "truth", 1.0, where))
    return max(float(np.abs(whole[size.classes == name] - short[name]).max()) for name in range(len(short)))


def test_symmetric_flow_is_the_literal_flow():
    """d=7, k=4: 16 x 4 weighted inputs and one number per class against all 128 inputs and every weight."""
    assert _symmetric_gap(Symmetric(7, 4, 2)) < 1e-14


def test_rl_learns_at_once_and_sft_level_by_level():
    size = Experiment(8, 4, rate=4.0, samples=4_000, updates=2, seeds=3, chains=256)
    fast = train(size.run(), range(3)).history
    assert (updates_to_exact(fast) == 1).all()
    slow = train(Experiment(8, 8, method="sft", samples=8_000, updates=3, chains=256, seeds=3).run(), range(3)).history
    assert (updates_to_exact(slow) == 2).all()
    np.testing.assert_array_equal(slow.metrics["rolled.levels"][:, 1, 0], 1)
    assert (slow.metrics["rolled.levels"][:, 1, 1:] < 1).all()


def test_numbers_of_chains_and_noise_share_a_program():
    sizes = [Experiment(8, 4, samples=n, noise=p, block=500, updates=1) for n, p in ((500, 0.0), (2_000, 0.4))]
    history = train([size.run() for size in sizes], [0, 1]).history
    assert history.samples.tolist() == [500, 2_000]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"method": "rlhf"}, "method='rlhf'"),
        ({"estimator": "magic"}, "estimator='magic'"),
        ({"loss": "l2"}, "loss='l2'"),
        ({"freeze": "all"}, "freeze='all'"),
        ({"noise": 1.5}, "noise=1.5"),
        ({"forcing": -0.1}, "forcing=-0.1"),
        ({"estimator": "group", "samples": 1001}, "samples=1001"),
        ({"rate": -1.0}, "positive"),
        ({"sparsity": 12}, "power of two"),
        ({"gate": "xnor"}, "gate='xnor'"),
        ({"block": 500, "samples": 0}, "at least one block"),
        ({"block": 500, "samples": 700}, "samples=700, block=500"),
        ({"updates": 0}, "updates=0"),
        ({"method": "filtered", "updates": 4}, "each of its 15 thoughts: updates=4"),
    ],
)
def test_settings_that_cannot_run_are_refused(fields, words):
    with pytest.raises(SpecError, match=words):
        Experiment(**fields).run()


@pytest.mark.parametrize(
    ("id", "given", "words"),
    [
        ("RS-12", {"seeds": "1"}, "seeds=1"),
        ("RS-15", {"sparsity": "2"}, "2 levels or more: sparsity=2"),
        ("RS-16", {"bits": "2", "sparsity": "2"}, "bits=2"),
        ("RS-19", {"updates": "1"}, "updates=1"),
        ("RS-21", {"sparsity": "4"}, "3 levels or more: sparsity=4"),
        ("RS-26", {"sparsity": "2"}, "sparsity=2"),
        ("RS-27", {"sparsity": "2"}, "sparsity=2"),
        ("RS-28", {"sparsity": "4"}, "sparsity=4"),
        ("RS-28", {"share": "0.7"}, "share=0.7"),
        ("RS-28", {"share": "0.2"}, "share=0.2"),
        ("RS-30", {"rate": "0"}, "rate=0"),
        ("RS-33", {"limit": "0"}, "limit=0"),
        ("RS-33", {"rate": "1e30"}, "rate=1e[+]30"),
        ("RS-34", {"rate": "-1"}, "rate=-1"),
        ("RS-34", {"sparsity": "2"}, "sparsity=2"),
        ("RS-34", {"limit": "1"}, "limit=1"),
    ],
)
def test_claims_refuse_what_they_cannot_judge(id, given, words):
    with pytest.raises(SpecError, match=words):
        verify(CLAIMS[id], "tiny", given)


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("flow", {"sparsity": 2}, "sparsity=2"),
        ("flow", {"share": 0.7}, "share=0.7"),
        ("clipped", {"rule": "foo"}, "rule='foo'"),
        ("clipped", {"rate": 1e30}, "rate=1e[+]30"),
        ("updates", {"limit": 0}, "limit=0"),
        ("1", {"rate": -1.0}, "rate=-1"),
    ],
)
def test_figures_refuse_what_they_cannot_draw(name, fields, words):
    with pytest.raises(SpecError, match=words):
        dataclasses.replace(FIGURES[f"rl-sft/{name}"].sizes["quick"], **fields)


@pytest.mark.parametrize("longer", [0.25, 1.0])
def test_mending_is_said_only_where_it_is_measured(longer):
    size = FiniteSamples(samples=(500, 1_000), ways=("RL, REINFORCE", "RL, REINFORCE" + LONGER))
    rows = [{"way": way, "samples": float(samples), "success": success}
            for way, success in zip(size.ways, (0.25, longer), strict=True) for samples in size.samples]  # fmt: skip
    figure = FIGURES["rl-sft/finite-samples"]
    assert ("mends" in figure.find({"data": pl.DataFrame(rows)}, size)) == (longer == 1.0)


def test_a_step_below_rounding_is_refused():
    with pytest.raises(SpecError, match="below float64's rounding"):
        Stepped(8, 8, 5.0, 8)


def test_more_noise_than_signal_breaks_learning():
    quiet, loud = (
        Experiment(8, 4, method="forced", freeze="none", noise=p, samples=2_000, updates=1, block=500)
        for p in (0.1, 0.5)
    )
    history = train([quiet.run(), loud.run()], [0, 0]).history
    assert np.isfinite(updates_to_exact(history)).tolist() == [True, False]
    assert jax.numpy.isfinite(history.last("rolled.levels")).all()


@pytest.mark.parametrize(
    "fields",
    [
        {"method": "sft", "forcing": 0.5, "rule": "adam", "rate": 0.1, "freeze": "none"},
        {"estimator": "group", "samples": 512, "rule": "gd", "rate": 100.0},
        {"method": "outcome", "freeze": "magnitude"},
        {
            "method": "filtered",
            "decomposition": "serial",
            "sparsity": 3,
            "gate": "nor",
            "loss": "logistic",
            "updates": 2,
        },
    ],
    ids=lambda fields: "-".join(map(str, fields.values())),
)
def test_every_way_of_teaching_runs(fields):
    size = Experiment(**{"bits": 6, "sparsity": 4, "samples": 256, "updates": 1, "chains": 64} | fields)
    history = train(size.run(), [0]).history
    assert np.isfinite(history.last("rolled.levels")).all()
