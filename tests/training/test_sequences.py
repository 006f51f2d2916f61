"""The sequence trainer: a padded chain changes nothing, company changes nothing, budgets and stops are kept."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import Architecture, gpt
from sorites.tasks import Sequences
from sorites.training.sequences import Course, Pupil, enrol, teach
from sorites.training.student import evaluate, loss_of, step

NET = Architecture(1, 2, 16, 32, spread=0.1)


def course(bits=16, thoughts=2, **fields):
    fields = {"batch": 64, "every": 4, "probed": 8} | fields
    return Course(Sequences(bits, thoughts, held_out=32), NET, **fields)


def test_room_for_more_thoughts_changes_nothing():
    """The same weights, an idle position more: same loss, same gradient, same measurements."""
    short, long = course(thoughts=2), course(thoughts=4)
    losses, measured = [], []
    model = gpt(NET, long.task.length, jax.random.key(1))
    for each in (short, long):
        here = eqx.tree_at(lambda m: m.positions, model, model.positions[: each.task.length])
        secret = each.task.draw(jax.random.key(2), 2)
        tokens, targets = each.task.fresh(secret, jnp.asarray(1), 64)
        value, slope = eqx.filter_jit(eqx.filter_value_and_grad(loss_of_model))(here, each, secret, tokens, targets)
        losses.append((value, slope.positions[: short.task.length], slope.blocks[0].up.weight))
        student = eqx.tree_at(lambda s: (s.model, s.secret), _one(each), (here, secret))
        measured.append(eqx.filter_jit(evaluate)(each, student))
    for a, b in zip(*losses, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    for name, value in measured[0].items():
        np.testing.assert_allclose(value, measured[1][name], atol=1e-5, err_msg=name)


def loss_of_model(model, course, secret, tokens, targets):
    return loss_of(course, model, secret, tokens, targets, jax.random.key(0))


def _one(course):
    """A student without a leading axis."""
    return jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, enrol(course, [Pupil(0, 2, 1e-2, 24)]))


def test_a_member_does_not_depend_on_company():
    pupils = [Pupil(seed, 2, rate, 16, stops=False) for seed, rate in ((0, 1e-2), (1, 3e-3))]
    both, alone = teach(course(), pupils, "apart", chunk=2), teach(course(), pupils[1:], "apart", chunk=1)
    np.testing.assert_array_equal(both.history.metrics["loss"][1], alone.history.metrics["loss"][0])
    together = teach(course(), pupils, "together", chunk=2)
    np.testing.assert_allclose(together.history.metrics["loss"], both.history.metrics["loss"], rtol=1e-3)


def test_stops_when_solved_and_compacts():
    pupils = [Pupil(0, 1, 1e-2, 200), Pupil(1, 1, 1e-2, 200), Pupil(2, 1, 1e-9, 200), Pupil(3, 1, 1e-9, 196)]
    found = {lanes: teach(course(), pupils, lanes, chunk=2) for lanes in ("apart", "together")}
    for taught in found.values():
        assert taught.solved.tolist() == [True, True, False, False]
        assert taught.samples[3] == 196 * 64
        assert taught.samples[2] == 200 * 64
        assert (taught.samples[:2] < 200 * 64).all()
        last = taught.history.metrics["accuracy"][0]
        assert np.nanmax(last) == 1
    np.testing.assert_array_equal(found["apart"].samples, found["together"].samples)


def test_nothing_moves_beyond_the_budget():
    """Six steps in segments of four: the last two have rate zero, and do not count."""
    taught = teach(course(), [Pupil(0, 2, 1e-2, 6, stops=False)], "apart", chunk=1)
    assert taught.samples[0] == 6 * 64
    student = eqx.tree_at(lambda s: s.step, _one(course()), jnp.asarray(30))  # of 24
    moved, _ = eqx.filter_jit(step)(course(), student)
    for a, b in zip(jax.tree.leaves(moved.model), jax.tree.leaves(student.model), strict=True):
        np.testing.assert_array_equal(a, b)


def test_times_never_exceed_the_budget():
    """Solved in a segment that ends beyond the budget, and diverged: both count as the budget."""
    taught = teach(course(), [Pupil(0, 2, 1e-3, 2, threshold=0.0), Pupil(0, 2, 1e30, 20)], "apart", chunk=1)
    assert taught.solved.tolist() == [True, False]
    assert taught.history.diverged.tolist() == [False, True]
    assert taught.samples.tolist() == [2 * 64, 20 * 64]
    alone = teach(course(), [Pupil(0, 2, 1e30, 20)], chunk=1)
    assert alone.history.metrics["loss"].shape == (1, 1)


def test_time_runs_out_between_chunks():
    taught = teach(course(), [Pupil(0, 2, 1e-3, 1000)], "apart", seconds=0.0, chunk=1)
    assert not taught.finished
    assert taught.history.samples[0] == 4 * 64


def test_many_passes_see_each_input_once_per_pass():
    sequences = Sequences(8, 0, held_out=16)
    secret = sequences.draw(jax.random.key(0), 2)
    held = {tuple(row) for row in np.asarray(sequences.validation(secret)[0])}
    test = {tuple(row) for row in np.asarray(sequences.validation(secret, test=True)[0])}
    passes = []
    for number in range(2):
        rows = [
            tuple(row)
            for step in range(number * 5, number * 5 + 5)
            for row in np.asarray(sequences.repeated(secret, jnp.asarray(step), 8, jnp.asarray(40))[0])
        ]
        assert len(set(rows)) == 40
        assert not set(rows) & (held | test)
        passes.append(rows)
    assert set(passes[0]) == set(passes[1])
    assert passes[0] != passes[1]
    fresh = [tuple(row) for step in range(28) for row in np.asarray(sequences.fresh(secret, jnp.asarray(step), 8)[0])]
    assert len(set(fresh)) == 224
    assert not set(fresh) & (held | test)
    assert not held & test
    seen = teach(dataclasses.replace(course(thoughts=0), repeated=True), [Pupil(0, 2, 1e-2, 8, size=40)], chunk=2)
    assert np.isfinite(seen.history.last("training_loss")).all()


def test_dropout_trains_the_literal_model():
    net = dataclasses.replace(NET, dropout=0.1, weights="bfloat16")
    taught = teach(dataclasses.replace(course(), architecture=net, clip=1.0), [Pupil(0, 2, 1e-2, 8)], chunk=2)
    assert np.isfinite(taught.history.last("loss")).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: course(batch=0), "batch=0"),
        (lambda: course(probed=64), "64 of 32"),
        (lambda: Pupil(0, 2, -1.0, 10), "rate=-1.0"),
        (lambda: Pupil(0, 2, 1.0, 0), "steps=0"),
        (lambda: teach(course(), []), "pupils=0"),
        (lambda: teach(course(), [Pupil(0, 2, 1e-3, 8)], shrink=1), "shrink=1"),
        (lambda: teach(course(), [Pupil(0, 2, 1e-3, 1024)]), "65,536 sequences of 65,472"),
        (lambda: teach(course(), [Pupil(0, 2, 1e-3, 8, secret=(3, 3))]), "distinct"),
        (lambda: teach(course(), [Pupil(0, 2, 1e-3, 8, secret=(3, 16))]), "distinct"),
        (lambda: teach(course(), [Pupil(0, 2, 1e-3, 8, secret=(1, 2, 3))]), "distinct"),
        (lambda: teach(course(), [Pupil(0, 5, 1e-3, 8)]), "sparsity=5"),
        (lambda: teach(course(repeated=True), [Pupil(0, 2, 1e-3, 8, size=0)]), "size=0"),
        (lambda: Sequences(12, 2, "mine"), "mine"),
        (lambda: Sequences(8, 9), "9 of 8"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(SpecError, match=words):
        make()
