"""What a run is refused for, and that the answer is taught wherever the secret puts it."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models.gpt import gpt
from sorites.models.positional import positional
from sorites.probes import AbstractProbe, Outcome
from sorites.supervision import (
    Blocks,
    CrossEntropy,
    Draw,
    Noisy,
    PolicyGradient,
    Pooled,
    Repeated,
    Sampled,
    credit,
    direct,
    outcome_reward,
    process_reward,
    teacher_forcing,
    without,
)
from sorites.tasks import Boolean, Chain, Parity, Sequences
from sorites.training import Adam, Evaluation, Run, Stage, train
from sorites.training.check import check
from sorites.training.member import init_member, start_stage, train_step

TASK = Parity(6, 4)


def run_of(term, source=None, task=TASK, model=None, evaluation=None):
    stage = Stage(task, (term,), source or Sampled(12), Adam(0.1), 2, evaluation or Evaluation(1, 12))
    return Run(model or positional(task), (stage,))


def grouped(group):
    return process_reward(TASK.layout, PolicyGradient(credit(TASK.layout), "group", group))


def test_groups_are_whole():
    check(run_of(grouped(4), Repeated(12, 4)))
    with pytest.raises(SpecError, match=r"whole groups: batch=12, group=5; use a multiple"):
        check(run_of(grouped(5), Repeated(12, 4)))
    with pytest.raises(SpecError, match=r"whole groups: count=10, group=4"):
        check(run_of(grouped(4), Repeated(12, 4), evaluation=Evaluation(1, 10)))
    check(run_of(grouped(4), Repeated(12, 4), evaluation=Evaluation(1, 10, (Outcome(),))))  # no loss is measured


def test_groups_are_whole_in_every_block():
    """What does not fit into one block is differentiated in several: none may part a group."""
    for source in (Sampled(16_386), Pooled(16_386, 16_386), Noisy(Sampled(16_386), 0.1), Blocks(8, 3)):
        with pytest.raises(SpecError, match=r"batch=\d+ is taken in blocks of \d+, group=6; use a group that divides"):
            check(run_of(grouped(6), source))
    for source in (Sampled(16_384), Pooled(16_380, 16_380), Blocks(12, 3)):
        check(run_of(grouped(4), source))
    model, key = positional(TASK).init(jax.random.key(0)), jax.random.key(1)
    for source in (Sampled(20_000), Pooled(20_000, 16_390), Pooled(20_000, 20_000)):  # as many as are then seen
        seen = []

        def loss_function(model, chains, key, seen=seen):
            seen.append(chains.tokens.shape[-1])
            return jnp.sum(model.predict_batch(chains).mean())

        def slope(source=source):
            secret = TASK.draw(key)
            draw = Draw(secret, source.prepare(TASK, secret, key, None), jnp.uint32(0), key, None)
            return source.gradient(loss_function, model, TASK, draw)

        jax.eval_shape(slope)
        assert set(seen) == source.pieces


def test_weights_have_the_layouts_shape():
    term = dataclasses.replace(teacher_forcing(TASK.layout), where=np.ones((2, 1)))
    with pytest.raises(SpecError, match=r"`where` weighs thoughts and slots: \(2, 1\) of \(3, 1\)"):
        check(run_of(term))
    term = dataclasses.replace(teacher_forcing(SHORTER.layout), where=np.ones((2, 1)))
    with pytest.raises(SpecError, match=r"`where` weighs thoughts and slots: \(2, 1\) of \(4, 1\)"):
        check(run_of(term, task=SHORTER, model=gpt(SHORTER, width=8, heads=1)))


class Short(Boolean):
    def sample(self, secret, key, count):
        chain = super().sample(secret, key, count)
        return Chain(chain.tokens[:-1], chain.layout)


class Doubled(Boolean):
    def relabel(self, secret, tokens):
        return jnp.concatenate([super().relabel(secret, tokens)] * 2)


@pytest.mark.parametrize(("kind", "words"), [(Short, "sample gives"), (Doubled, "relabel gives")])
def test_a_strangers_task_has_its_layouts_shapes(kind, words):
    task = kind(6, 4, "parity")
    with pytest.raises(SpecError, match=words):
        check(run_of(teacher_forcing(task.layout), task=task, model=positional(task)))


SHORTER = Sequences(6, 4, 2, validation=4)  # k = 2 in a layout of four thoughts


def gradient(term):
    run = run_of(term, task=SHORTER, model=gpt(SHORTER, width=8, heads=1))
    check(run)
    member = start_stage(run.stages[0], init_member(run, jnp.asarray(0)))
    moved, loss = eqx.filter_jit(train_step)(run.stages[0], member, None)
    old, new = (jax.tree.leaves(eqx.filter(each.model, eqx.is_inexact_array)) for each in (member, moved))
    return float(loss), sum(float(jnp.abs(a - b).sum()) for a, b in zip(old, new, strict=True))


@pytest.mark.parametrize("make", [lambda layout: direct(layout, CrossEntropy()), outcome_reward])
def test_the_answer_of_a_shorter_chain_is_taught(make):
    loss, moved = gradient(make(SHORTER.layout))
    assert moved > 0
    assert loss != 0


def test_the_answers_loss_is_that_of_the_thought_that_is_asked_for():
    model = gpt(SHORTER, width=8, heads=1).init(jax.random.key(3))
    secret = SHORTER.draw(jax.random.key(1))
    chains = SHORTER.sample(secret, jax.random.key(2), 16)
    second = np.zeros((4, 1))
    second[1] = 1
    term = direct(SHORTER.layout, CrossEntropy())
    byhand = dataclasses.replace(term, where=second, answer=False)
    found, wanted = (each(model, SHORTER, secret, chains, None) for each in (term, byhand))
    assert found == wanted


def test_nothing_is_taught_that_is_not_there():
    with pytest.raises(SpecError, match="the chain has 2 thoughts, of its layout's 4 others are taught"):
        gradient(without(SHORTER.layout, 3, CrossEntropy()))


class Counted(AbstractProbe):
    """An outcome that notes when it is traced."""

    needs_supervision: ClassVar[bool] = False
    reading: str = eqx.field(static=True)

    def __call__(self, model, task, secret, chains, taught):
        TRACED.append(self.reading)
        return Outcome(self.reading)(model, task, secret, chains, taught)


TRACED: list[str] = []


@pytest.mark.parametrize(("strategy", "members"), [("auto", 1), ("vmap", 2), ("sequential", 2)])
def test_what_is_measured_is_traced_once(strategy, members):
    """The check before a training asks what is measured; the program asks the same and need not trace it again."""
    task = Parity(bits=4 + members, sparsity=2)  # a size of its own, so that nothing was traced before
    probes = (Counted("forced"), Counted("padded") if strategy == "sequential" else Counted("rolled"))
    stage = Stage(task, (teacher_forcing(task.layout),), Sampled(4), Adam(0.1), 2, Evaluation(1, 8, probes))
    TRACED.clear()
    train(Run(positional(task), [stage]), range(members), strategy=strategy, chunk=2)
    assert sorted(TRACED) == sorted(probe.reading for probe in probes)
