"""The compiled ensemble: reproducible, independent of chunks and company, and it never compiles twice."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.fast import compiler
from sorites.models.gated import gated
from sorites.models.open_gates import open_gates
from sorites.papers.wen.experiments import FreshData
from sorites.probes import Loss, Outcome
from sorites.supervision import Pooled, Sampled, teacher_forcing
from sorites.tasks import Parity
from sorites.training import (
    GD,
    AdamW,
    Evaluation,
    Frozen,
    Progress,
    Quantised,
    Run,
    Sign,
    Stage,
    Until,
    ensemble,
    linear_icot,
    log_icot,
    stages,
    strategies,
    train,
)
from sorites.training.curricula import CURRICULA
from sorites.training.strategies import choose_strategy, for_fewer

SEEDS = [0, 1, 2]


def with_adam(run, **changes):
    """The same run with another rule in every stage."""
    return eqx.tree_at(lambda r: [s.optimizer for s in r.stages], run, [AdamW(**changes)] * len(run.stages))


def assert_same(one, other, members=slice(None), **tolerance):
    """Histories and models agree, bit for bit unless a tolerance is given."""
    compare = np.testing.assert_allclose if tolerance else np.testing.assert_array_equal
    np.testing.assert_array_equal(one.history.step, other.history.step)
    np.testing.assert_array_equal(one.history.stage, other.history.stage)
    for name, values in one.history.metrics.items():
        compare(values, other.history.metrics[name][members], **tolerance)
    for mine, theirs in zip(jax.tree.leaves(one.models), jax.tree.leaves(other.models), strict=True):
        compare(mine, np.asarray(theirs)[members], **tolerance)
    for field in ("seeds", "solved_at", "samples", "diverged", "secrets"):
        np.testing.assert_array_equal(getattr(one.history, field), getattr(other.history, field)[members])


def test_the_shape_of_a_history(trained, task):
    history = trained.history
    assert history.seeds.tolist() == SEEDS
    assert history.stage.tolist() == [1, 1, 1, 2, 2, 2]
    assert history.step.tolist() == [0, 2, 4, 4, 6, 8]  # on entry to a stage, then every two steps
    assert history.samples.tolist() == [8 * 64] * 3
    assert history.metrics["own.loss"].shape == (3, 6)
    assert history.metrics["child_mass"].shape == (3, 6, 2)
    assert history.secrets.shape == (3, 4)
    assert len({tuple(secret) for secret in history.secrets.tolist()}) > 1
    np.testing.assert_allclose(history.entry(1, "child_mass"), [[2 / 8, 2 / 10]] * 3, rtol=1e-6)
    assert (history.end(2, "own.loss") < history.entry(1, "own.loss")).all()
    assert [w.shape for w in trained.model(1).weights] == [(2, 8), (1, 10)]


def test_the_same_spec_and_seeds_are_bit_identical(run, trained):
    assert_same(train(run, SEEDS, strategy="vmap"), trained)


def advancing():
    """The program that trains."""
    return compiler.compiled(ensemble.train_members, False, "all-except-first")


def test_nothing_recompiles_for_new_data(run, trained):
    others = (ensemble.init_members, ensemble.start_stages)
    programs = [advancing(), *(compiler.compiled(each, fast_compile=True) for each in others)]
    before = [program._cached._cache_size() for program in programs]
    assert all(before)
    other = train(with_adam(run, rate=0.1, decay=0.01), [7, 8, 9], strategy="vmap")  # secrets are new too
    shifted = eqx.tree_at(lambda r: r.model.weights, run, replace_fn=lambda w: jax.tree.map(lambda x: x + 1, w))
    train(shifted, SEEDS, strategy="vmap")
    assert [program._cached._cache_size() for program in programs] == before
    assert (other.history.metrics["own.loss"] != trained.history.metrics["own.loss"]).any()


def test_what_a_gpu_is_told_changes_nothing_elsewhere(run, trained, monkeypatch):
    monkeypatch.setattr(compiler, "backend", lambda: "gpu")
    assert compiler.options(False) == compiler.GPU
    assert_same(train(run, SEEDS, strategy="vmap"), trained)


@pytest.mark.parametrize("chunk", [1, 3])
def test_a_history_does_not_depend_on_chunk_length(run, trained, chunk):
    assert_same(train(run, SEEDS, strategy="vmap", chunk=chunk), trained)  # 2 leaves a partial last chunk


def test_a_history_does_not_depend_on_company(run, trained):
    everyone = train(run, SEEDS, strategy="sequential")
    alone = train(run, [1], strategy="sequential")
    assert_same(alone, everyone, members=[1])
    assert_same(everyone, trained, rtol=1e-4, atol=1e-5)  # vmap differs in rounding alone, on a short run


def test_several_runs_differ_in_arrays(run, trained):
    rates = [0.3, 0.1, 0.3]
    several = train([with_adam(run, rate=rate) for rate in rates], SEEDS, strategy="vmap")
    loss, same = several.history.metrics["own.loss"], trained.history.metrics["own.loss"]
    np.testing.assert_array_equal(loss[[0, 2]], same[[0, 2]])
    assert (loss[1] != same[1]).any()


def test_progress_is_told_between_chunks(run, trained):
    told = []
    train(run, SEEDS, strategy="vmap", progress=told.append)
    assert [(p.stage, p.stages, p.step, p.steps, p.members) for p in told] == [
        (1, 2, 0, 8, 3),  # the look on entry
        (1, 2, 4, 8, 3),
        (2, 2, 4, 8, 3),
        (2, 2, 8, 8, 3),
    ]
    assert told[1].rate > 0
    assert told[1].remaining == pytest.approx(told[1].seconds)
    assert told[-1].remaining == 0


def test_a_long_training_is_heard_of_early(run):
    """After the first segment, not after the first chunk, which may take a minute."""
    told: list[Progress] = []
    long = Run(run.model, [dataclasses.replace(run.stages[0], steps=12)])
    train(long, SEEDS, strategy="vmap", chunk=3, progress=told.append)
    assert [now.step for now in told] == [0, 2, 6, 12]
    told.clear()
    train(long, SEEDS, strategy="vmap", progress=told.append)
    assert [now.step for now in told] == [0, 12]  # no longer than a chunk


class TestDivergence:
    @pytest.fixture
    def runs(self, task):
        """Weights at the largest float and a rate to match: uniform attention, then overflow."""
        evaluation = Evaluation(every=2, count=64, probes=(Loss(), Outcome()))

        def one(rate, weight):
            [stage] = stages(task, [teacher_forcing(task.layout)], Sampled(64), GD(rate), 4, evaluation)
            model = eqx.tree_at(
                lambda m: m.weights, gated(task), replace_fn=lambda w: jax.tree.map(lambda x: x + weight, w)
            )
            return Run(model, [stage])

        return one(0.5, 0.0), one(1e38, 3.4e38)

    @pytest.mark.parametrize("strategy", ["vmap", "sequential"])
    def test_a_diverged_member_is_recorded_and_the_others_go_on(self, runs, strategy):
        good, bad = runs
        mixed = train([good, bad, good], SEEDS, strategy=strategy).history
        assert mixed.diverged.tolist() == [False, True, False]
        assert mixed.samples.tolist() == [256, 128, 256]  # it stands still once it is seen
        assert np.isfinite(mixed.metrics["own.loss"][1, 0])
        assert np.isnan(mixed.metrics["padded.answer"][1, 2])
        pure = train([good] * 3, SEEDS, strategy=strategy).history
        for name, values in pure.metrics.items():
            np.testing.assert_array_equal(mixed.metrics[name][[0, 2]], values[[0, 2]])

    def test_everyone_may_diverge(self, runs):
        history = train([runs[1]] * 3, SEEDS, strategy="sequential").history
        assert history.diverged.all()
        assert history.step.tolist() == [0, 2]
        assert np.isfinite(history.entry(1, "own.loss")).all()  # what it measured before
        assert np.isnan(history.last("own.loss")).all()  # a diverged member has no final loss


LEAVERS = [0, 2, 3, 4]  # they get there at different evaluations


def until(goal):
    task = Parity(8, 2)
    taught, evaluation = [teacher_forcing(task.layout)], Evaluation(every=2, count=64)
    return Run(
        gated(task),
        stages(task, taught, Sampled(16), AdamW(0.3), 12, evaluation, until=goal and Until("padded.answer", goal)),
    )


@pytest.fixture(scope="module")
def whole():
    """Nobody leaves."""
    return train(until(None), LEAVERS, strategy="sequential")


@pytest.fixture(scope="module")
def leaving():
    """All in one chunk, so nobody is dropped."""
    return train(until(1.0), LEAVERS, strategy="sequential")


class TestLeavingEarly:
    def test_solved_at_is_the_first_right_evaluation(self, whole):
        accuracy, step = whole.history.metrics["padded.answer"], whole.history.step
        assert (accuracy[:, -1] == 1).all()
        assert whole.history.solved_at.tolist() == [int(step[np.argmax(a >= 1)]) for a in accuracy]
        assert len(set(whole.history.solved_at.tolist())) > 2
        assert whole.history.samples.tolist() == [12 * 16] * 4

    def test_members_leave_and_their_history_is_the_same_up_to_there(self, whole, leaving):
        solved = whole.history.solved_at
        assert leaving.history.solved_at.tolist() == solved.tolist()
        assert leaving.history.samples.tolist() == (16 * solved).tolist()
        assert leaving.history.step.tolist() == list(range(0, solved.max() + 1, 2))  # then nobody is left
        for name, values in leaving.history.metrics.items():
            for member, end in enumerate(solved // 2 + 1):
                np.testing.assert_array_equal(values[member, :end], whole.history.metrics[name][member, :end])
                assert np.isnan(values[member, end:]).all()
        assert (leaving.history.last("padded.answer") == 1).all()
        assert (leaving.history.end(1, "padded.answer") == 1).all()

    def test_halves_are_dropped_and_nothing_changes(self, leaving, monkeypatch):
        sizes, advance, program = [], advancing(), compiler.compiled

        def watched(plan, members, *rest):
            sizes.append(members.step.shape[0])
            return advance(plan, members, *rest)

        monkeypatch.setattr(
            compiler,
            "compiled",
            lambda each, *rest, **more: watched if each is ensemble.train_members else program(each, *rest, **more),
        )
        dropped = train(until(1.0), LEAVERS, strategy="vmap", chunk=1)
        assert sizes == sorted(sizes, reverse=True)
        assert set(sizes) == {4, 2, 1}
        assert len(sizes) == len(leaving.history.step)  # and the loop ends with the last member
        assert_same(dropped, leaving, rtol=1e-4, atol=1e-5)


def test_rules_freeze_and_quantise_inside_the_program(task):
    optimizer = Frozen(Quantised(Sign(1.0)), ("gates",))
    taught = [teacher_forcing(task.layout)]
    model = open_gates(task, gate=0.3)
    trained = train(
        Run(model, stages(task, taught, Sampled(64), optimizer, 2, Evaluation(2, 64, (Loss(),)))), [0], "sequential"
    )
    weights = np.asarray(trained.models.weights)
    assert np.abs(weights).max() >= 1
    np.testing.assert_array_equal(weights, np.round(weights))
    np.testing.assert_array_equal(trained.models.gates, np.asarray(model.gates)[None])


def test_a_pool_is_kept_and_the_rule_may_remember(task):
    outcomes = {}
    for reset in (True, False):
        evaluation = Evaluation(2, 64, (Loss(),))
        each = stages(task, [teacher_forcing(task.layout)] * 2, Pooled(32, 32), AdamW(0.1), 2, evaluation, reset=reset)
        outcomes[reset] = train(Run(gated(task), each), [0], "sequential").history.metrics["own.loss"][0]
    np.testing.assert_array_equal(outcomes[True][:3], outcomes[False][:3])
    assert outcomes[True][3] != outcomes[False][3]


class TestRefusals:
    def test_ensembles(self, run):
        with pytest.raises(SpecError, match=r"an ensemble needs at least one seed: seeds=\[\]; use 1 or more"):
            train(run, [])
        with pytest.raises(SpecError, match=r"got strategy='side'; allowed are auto, vmap, sequential, separate"):
            train(run, [0], strategy="side")
        with pytest.raises(SpecError, match=r"one run per seed: 2 runs, 1 seeds; make them equal"):
            train([run, run], [0])
        with pytest.raises(SpecError, match=r"allowed are whole numbers from 0 to 2\^31 - 1"):
            train(run, [-1])

    def test_ensembles_of_different_programs(self, run, task):
        other = Run(gated(task, "quartic"), run.stages)
        with pytest.raises(SpecError, match=r"the runs of one ensemble differ in arrays only"):
            train([run, other], [0, 1])

    def test_stages(self, run, task):
        [stage, _] = run.stages
        with pytest.raises(SpecError, match=r"whole evaluations long: steps=5, every=2; use a multiple of it"):
            Stage(task, stage.supervisions, stage.source, stage.optimizer, 5, stage.evaluation)
        with pytest.raises(SpecError, match=r"evaluations are at least a step apart: every=0; use 1 or more"):
            Evaluation(every=0)
        with pytest.raises(SpecError, match=r"an evaluation needs chains: count=0; use 1 or more"):
            Evaluation(count=0)
        with pytest.raises(SpecError, match=r"a run needs at least one stage: stages=\(\); give it one"):
            Run(gated(task), [])


class TestCurricula:
    def test_log_icot_pads_a_level_per_stage(self):
        layout = Parity(30, 16).layout
        taught = log_icot(layout)
        assert len(taught) == 4  # log2 k
        assert [int(term.prefix.shown.sum()) - 30 for term in taught] == [15, 7, 3, 1]
        assert [int(term.where.sum()) for term in taught] == [15, 7, 3, 1]
        assert [term.level for term in taught] == [1, 2, 3, 4]

    def test_icot_pads_a_thought_per_stage(self):
        taught = linear_icot(Parity(30, 16).layout)
        assert len(taught) == 15  # k - 1
        assert [int(term.where.sum()) for term in taught] == list(range(15, 0, -1))

    def test_every_curriculum_teaches_the_answer_at_its_end(self, task):
        for curriculum in CURRICULA.values():
            assert curriculum(task.layout)[-1].where[-1] == 1

    def test_one_optimizer_per_stage(self, task):
        optimizers = [GD(1.0), GD(2.0)]
        made = stages(task, log_icot(task.layout), Sampled(8), optimizers, 25)
        assert [float(stage.optimizer.rate) for stage in made] == [1, 2]
        with pytest.raises(SpecError, match="got 1 optimizers for 2 stages"):
            stages(task, log_icot(task.layout), Sampled(8), [GD(1.0)], 25)


def test_step_s_draws_from_its_own_key(run):
    """Weights after n steps do not depend on how many more follow (a prefix of a longer stage)."""
    short = train(run, [3], strategy="sequential").history
    first = run.stages[0]
    longer = Run(run.model, [Stage(first.task, first.supervisions, first.source, first.optimizer, 6, first.evaluation)])
    np.testing.assert_array_equal(
        train(longer, [3], strategy="sequential").history.metrics["own.loss"][:, :3], short.metrics["own.loss"][:, :3]
    )
    assert jnp.isfinite(short.metrics["own.loss"]).all()


class TestStrategies:
    """Which members run side by side, and how the last one runs."""

    def test_a_step_that_fills_an_accelerator_runs_alone(self, monkeypatch):
        small, middle, large = (FreshData(layers, 4, width, 4 * width, batch=512).case(0, 30, 3, 1e-4, 10**6, 3).run
                                for layers, width in ((1, 64), (1, 720), (4, 720)))  # fmt: skip
        monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
        monkeypatch.setattr(strategies, "free_memory", lambda: None)
        assert choose_strategy(small, 8, "auto") == "vmap"
        assert choose_strategy(middle, 8, "auto") == "vmap"  # measured: 1.8 times as fast as one after another
        assert choose_strategy(large, 8, "auto") == "separate"
        assert choose_strategy(large, 8, "vmap") == "vmap"

    def test_the_last_member_runs_alone(self):
        assert for_fewer("vmap", 1) == "separate"
        assert for_fewer("vmap", 2) == "vmap"
        assert for_fewer("sequential", 1) == "sequential"
