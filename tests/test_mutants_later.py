"""More faults that the tests once let live, each with a number worked out another way."""

import math
from fractions import Fraction

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest

from sorites.errors import SpecError
from sorites.models import ClassLogits
from sorites.models.positional import positional
from sorites.models.routing import uniform
from sorites.models.srelu import SReLU
from sorites.papers.lego.setting import Theory
from sorites.probes import Reward
from sorites.statistics.bending import _cut
from sorites.store import Store
from sorites.store.folder import Damaged
from sorites.store.inspection import _bounded
from sorites.store.spec import describe
from sorites.supervision import Blocks, Sampled, direct, expected, teacher_forcing
from sorites.tasks import Alphabet, Composition, Lego, Parity, Vocabulary, action_named
from sorites.tasks.numbering import LISTED, inputs_of
from sorites.tasks.rows import read_rows
from sorites.theory.krawtchouk import lemma_8_bound
from sorites.theory.products import input_sets, trivial_quadruples, trivial_quadruples_formula
from sorites.training import GD, Evaluation, Run, Stage, train
from sorites.training.lego_theory import plain_time, train_routing, two_steps
from sorites.training.plan import plans
from sorites.training.strategies import choose_strategy


def test_a_likelihood_may_lie_so_far_below_its_top():
    """Nine members: t(0.975, 6) = 2.446912, squared over 6 is 0.997896."""
    assert _cut(9) == pytest.approx(4.5 * math.log(1.997896), rel=1e-5)


def test_counts_and_bounds_of_products():
    """The formula against brute force on a tree of eight leaves; and (8/2) / C(2, 1) = 2."""
    children = np.array([[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11], [12, 13]])
    nested = int((children >= 8).sum())
    masks = input_sets(8, children)
    assert trivial_quadruples_formula(len(masks), nested) == trivial_quadruples(masks)
    assert lemma_8_bound(8, 4) == Fraction(2)


def test_the_time_of_plain_descent_along_its_own_path():
    """Fifty literal steps of size 0.02 take a time of one."""
    action, theory = action_named("C6"), Theory(20, 2.0)
    with jax.enable_x64(True):
        features, source = theory.features(action), two_steps(action, 1)
        path = train_routing(features, uniform(), source, (1, 2), 20, 50, 0.02, rule="plain")
        times = np.asarray(plain_time(features, path, source.batch, (1, 2), 20))
    np.testing.assert_allclose(times, 0.02 * np.arange(len(times)), rtol=1e-2)


def test_every_element_is_drawn():
    task = Composition(np.add.outer(np.arange(3), np.arange(3)) % 3, 6, 4)
    inputs = np.asarray(task.sample(task.draw(jax.random.key(0)), jax.random.key(1), 64).tokens)[:6]
    assert set(inputs.ravel().tolist()) == {0, 1, 2}


def test_entropy_of_classes():
    """Five equal classes: log 5; a sure one: 0."""
    sure = jnp.where(jnp.arange(5) == 2, 0.0, -jnp.inf)
    found = np.asarray(ClassLogits(jnp.stack([jnp.zeros(5), sure])[:, None, None]).entropy())
    np.testing.assert_allclose(np.sort(found.ravel()), [0.0, math.log(5)], atol=1e-6)


@pytest.mark.parametrize("version", ["standard", "modified"])
def test_a_smoothed_relu_is_the_integral_of_its_slope(version):
    """By the trapezoid rule from below the leak to above the bend."""
    relu = SReLU(4, 0.5, version, leak=0.1, ceiling=2.0)
    with jax.enable_x64(True):
        x = jnp.linspace(-3.0, 3.0, 60_001)
        value, slope = np.asarray(relu(x)), np.asarray(relu.derivative(x))
    summed = np.concatenate([[0.0], np.cumsum((slope[1:] + slope[:-1]) / 2) * 1e-4])
    np.testing.assert_allclose(value - value[0], summed, atol=2e-4)


def test_shapes_name_the_secret(tmp_path):
    pl.DataFrame({"member": ["a"], "loss": [1.0]}).write_parquet(tmp_path / "history.parquet")
    table = (tmp_path / "history.parquet").read_bytes()
    _bounded({"metrics": {"loss": []}, "secret": None}, table)
    for wrong in ({"metrics": {"loss": []}}, {"metrics": {"loss": [9, 9]}, "secret": None}):
        with pytest.raises(Damaged, match="shapes"):
            _bounded(wrong, table)


def test_weights_are_kept_in_the_second_stage_too():
    """Steps count through the stages: 6 is the second step of the second."""
    task = Parity(4, 2)
    stage = Stage(task, (teacher_forcing(task.layout),), Sampled(16), GD(1.0), 4, Evaluation(2, 16))
    run = Run(positional(task), [stage, stage])
    kept = train(run, [0], snapshots=(6,)).snapshots
    longer = train(Run(positional(task), [stage, eqx.tree_at(lambda each: each.steps, stage, 2)]), [0]).models
    assert list(kept) == [6]
    np.testing.assert_allclose(np.asarray(kept[6].weights), np.asarray(longer.weights), rtol=1e-6)


def test_all_that_is_held_out_may_be_asked():
    task = Parity(6, 2)
    secret = task.draw(jax.random.key(0))
    chains = Evaluation(1, task.held_out, numbered=True).chains(task, secret, jax.random.key(1))
    assert chains.tokens.shape[-1] == task.held_out
    with pytest.raises(SpecError, match="held-out"):
        Evaluation(1, task.held_out + 1, numbered=True).chains(task, secret, jax.random.key(1))


def test_a_vocabulary_lacks_room_in_one_way_at_a_time():
    whole = Lego("C3", 2, 4).vocabulary
    for room in (
        Vocabulary(4, whole.actions - 1, whole.values),
        Vocabulary(4, whole.actions, whole.values - 1),
        Vocabulary(5, whole.actions, whole.values),
    ):
        with pytest.raises(SpecError, match="room for the action"):
            Lego("C3", 2, 4, room)


def test_three_bad_rows_are_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text("no\n" * 5)
    with pytest.raises(SpecError) as refusal:
        read_rows(tmp_path / "rows.jsonl", dict)
    assert str(refusal.value).count("line ") == 3


def test_the_largest_stage_decides_how_members_train():
    """By a small first stage they would train together, and a large batch does not."""
    task = Parity(8, 4)

    def stage(count):
        return Stage(task, (teacher_forcing(task.layout),), Sampled(count), GD(1.0), 1, Evaluation(1, 16))

    assert choose_strategy(Run(positional(task), [stage(8), stage(8)]), 2, "auto") == "vmap"
    assert choose_strategy(Run(positional(task), [stage(8), stage(50_000)]), 2, "auto") == "sequential"


def test_what_can_be_called_and_has_no_name_is_refused():
    class Callable:
        def __call__(self):
            return 0

    with pytest.raises(SpecError, match="Callable is none of these"):
        describe(Callable())


def test_numbered_inputs_stay_the_same():
    """A stored run with more bits than can be listed must find its inputs again."""
    keys = jnp.asarray([1, 2, 3, 4], jnp.uint32)
    bits = np.asarray(inputs_of(jnp.arange(2, dtype=jnp.uint32), keys, LISTED + 9))
    words = [int("".join(map(str, row[:32])), 2) for row in bits]
    assert words == [4200496897, 3882750988]


def test_numbers_of_inputs_leave_the_last_bit_to_what_is_held_out():
    assert Composition(np.zeros((2, 2), int), 4, 2).trainable < 2**31


def test_slopes_are_taken_from_the_left_at_the_joints():
    relu = SReLU(4, 0.5, "modified", leak=0.1, ceiling=2.0)
    np.testing.assert_allclose(relu.derivative(jnp.asarray([2.0, 0.5, 0.0, -0.1, -2.0])), [1.0, 1.0, 0.0, -0.1, 0.0])


def test_sixty_five_members_lie_in_two_folders(tmp_path):
    task = Parity(4, 2)
    stage = Stage(task, (teacher_forcing(task.layout),), Sampled(8), GD(1.0), 1, Evaluation(1, 8))
    store = Store(tmp_path)
    store.train(Run(positional(task), [stage]), range(65))
    assert sorted(len(folder.ids) for folder in store.folders()) == [32, 33]


def test_what_is_held_in_memory_is_counted_to_the_last_state(monkeypatch):
    """Sixteen inputs and the four states of the first level of a tree of four."""
    model, inputs = positional(Parity(4, 4)), np.ones((4, 16), int)
    monkeypatch.setattr(expected, "LARGEST", 64)
    expected.walk(model, inputs)
    monkeypatch.setattr(expected, "LARGEST", 63)
    with pytest.raises(SpecError):
        expected.walk(model, inputs)


def test_stages_that_are_rewarded_and_measured_alike_share_a_program():
    """`Reward` is the same whatever is taught."""
    task = Parity(4, 4)
    checks = Evaluation(1, 8, (Reward(),))
    taught = (teacher_forcing(task.layout), direct(task.layout))
    stages = [Stage(task, (term,), Sampled(8), GD(1.0), 1, checks) for term in taught]
    assert [len(plan.teachings) for plan, _ in plans(Run(positional(task), stages))] == [2, 2]


def test_spoilt_classes_stay_the_same():
    """A stored run finds its wrong labels again; each is another class."""
    tokens = jnp.arange(8, dtype=jnp.int32) % 5
    found = np.asarray(Alphabet(5, signs=False).corrupt(tokens, jax.random.key(0), 1.0))
    assert (found != np.asarray(tokens)).all()
    shift = jax.random.randint(jax.random.fold_in(jax.random.key(0), 1), (8,), 1, 5)
    assert found.tolist() == [(number % 5 + int(by)) % 5 for number, by in enumerate(shift)]


def test_the_largest_batch_of_an_ensemble_decides():
    """Sizes of batches are data: one member's is large."""
    task = Parity(8, 4)
    source = Blocks(8, np.array([1, 10_000]))
    stage = Stage(task, (teacher_forcing(task.layout),), source, GD(1.0), 1, Evaluation(1, 16))
    assert choose_strategy(Run(positional(task), [stage]), 2, "auto") == "sequential"
