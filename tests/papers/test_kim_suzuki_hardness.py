"""KS-3 to KS-9 at tiny scale, the hardness map, and what they are made of."""

import json

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.drawing import style
from sorites.errors import SpecError
from sorites.ledger import verify
from sorites.papers.kim_suzuki import hardness_figures
from sorites.papers.kim_suzuki.hardness_figures import Hardness
from sorites.papers.kim_suzuki.hardness_learners import answer_alone, answers, drawn, jacobian, task_of
from sorites.papers.kim_suzuki.oracle_claims import Hidden
from sorites.papers.registry import papers
from sorites.theory import parity_class as pc
from sorites.training import PLAIN

CLAIMS = {f"KS-{number}": papers()["kim-suzuki"].claims()[f"KS-{number}"] for number in range(3, 10)}
FIGURE = hardness_figures.FIGURES[0]


@pytest.mark.parametrize("id", CLAIMS)
def test_claims_come_out_as_expected(id):
    verdict = verify(CLAIMS[id], "tiny")
    json.dumps(verdict.record(), allow_nan=False)
    assert verdict.as_expected, verdict
    if id in ("KS-3", "KS-7", "KS-9"):  # the printed form is shown to fail
        assert verdict.erratum is not None
        assert verdict.erratum["printed_verdict"] == "fails"


def test_the_map_draws_from_its_tables():
    size = FIGURE.sizes["tiny"]
    frames = FIGURE.measure(size, PLAIN)
    with style():
        picture = FIGURE.draw(frames, size)
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in picture.axes)
    assert FIGURE.find(frames, size).endswith(".")
    data = frames["data"]
    alone = data.filter(data["learner"] == "perceptron")
    assert (alone["signal"] <= alone["bound"]).all()


@pytest.mark.parametrize("learner", ["perceptron", "transformer"])
def test_the_jacobian_is_that_of_the_answers(learner):
    task = task_of(6, 3)
    model, taught = drawn(learner, task, 0), answer_alone(learner, task.layout)
    inputs = jnp.asarray(pc.signs(6, np.arange(10)))
    slopes = jacobian(model, taught, task, inputs)
    field = "offset" if learner == "perceptron" else "weights"
    step = 1e-2
    moved = {sign: _moved(model, field, sign * step) for sign in (1, -1)}
    change = [answers(moved[sign], taught, task, inputs) for sign in (1, -1)]
    column = slopes[:, -1] if learner == "perceptron" else slopes[:, (task.layout.thoughts - 1) * task.layout.positions]
    np.testing.assert_allclose(column, (change[0] - change[1]) / (2 * step), atol=2e-3)


def _moved(model, field, by):
    leaf = getattr(model, field)
    place = (-1,) if leaf.ndim == 1 else (-1, 0)
    return eqx.tree_at(lambda m: getattr(m, field), model, leaf.at[place].add(by))


@pytest.mark.parametrize(
    ("id", "overrides", "words"),
    [
        ("KS-3", {"sparsity": "8"}, "two parities"),
        ("KS-3", {"bits": "20"}, "bits=20"),
        ("KS-4", {"samples": "16"}, "samples"),
        ("KS-5", {"trials": "1"}, "trials=1"),
        ("KS-6", {"bits": "3", "sparsity": "5"}, "two parities"),
        ("KS-7", {"bits": "14"}, "bits=14"),
        ("KS-7", {"targets": "1"}, "targets=1"),
        ("KS-8", {"excess": "0"}, "eps > 0"),
        ("KS-8", {"samples": "9000"}, "samples=9000"),
        ("KS-9", {"sizes": "8,9,10"}, "even sizes"),
    ],
)
def test_sizes_that_cannot_be_checked_are_refused(id, overrides, words):
    with pytest.raises(SpecError, match=words):
        verify(CLAIMS[id], "tiny", overrides)


def test_other_sizes_are_refused_at_construction():
    for act in (lambda: Hardness(perceptron=(5,)), lambda: Hardness(chain=(12,)), lambda: Hidden(steps=0)):
        with pytest.raises(SpecError):
            act()
