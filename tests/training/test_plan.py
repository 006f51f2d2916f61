"""Stages that differ in nothing but what is taught share a program."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest

from sorites.models.gated import gated
from sorites.probes import AbstractProbe, Loss, OnTask, Outcome
from sorites.supervision import Pooled, Sampled
from sorites.tasks import Parity
from sorites.training import AdamW, Evaluation, Run, log_icot, stages, train
from sorites.training.ensemble import init_members, train_members
from sorites.training.plan import only, plans
from sorites.training.segments import Call
from sorites.training.structure import structure_of
from sorites.training.trees import stacked

TASK = Parity(8, 4)


class Asking(AbstractProbe):
    """Says nothing about what it looks at."""

    def __call__(self, model, task, secret, chains, taught):
        return {"terms": np.float32(len(taught))}


def of(*probes, source=None):
    evaluation = Evaluation(2, 64, probes)
    return Run(gated(TASK), stages(TASK, log_icot(TASK.layout), source or Sampled(64), AdamW(0.3), 4, evaluation))


def shared(run) -> list[int]:
    """How many things each stage's program can teach."""
    return [len(plan.teachings) for plan, _ in plans(run)]


def test_a_curriculum_is_one_program():
    run = of(Loss(), Outcome())
    (first, one), (second, two) = plans(run)
    assert structure_of(first) == structure_of(second)
    assert (one, two) == (0, 1)
    assert first.teachings[0] is run.stages[0].supervisions
    assert second.teachings[1] is run.stages[1].supervisions
    assert only(second, 1).teachings == (run.stages[1].supervisions,)


def test_a_probe_that_may_ask_what_is_taught_is_compiled_with_it():
    assert shared(of(Loss(), Outcome())) == [2, 2]
    assert shared(of(Loss(), Asking())) == [1, 1]
    assert shared(of(OnTask(TASK, (Outcome(),), "here"))) == [2, 2]
    assert shared(of(OnTask(TASK, (Asking(),), "here"))) == [1, 1]


def test_other_sources_and_teachers_are_other_programs():
    run = of(Outcome())
    assert shared(eqx.tree_at(lambda run: run.stages[1].source, run, Sampled(32))) == [1, 1]
    frozen = [run.stages[0], dataclasses.replace(run.stages[1], freeze=True)]
    assert shared(Run(run.model, frozen)) == [1, 1]


def test_the_shared_program_does_what_each_did():
    """A probe that asks keeps the stages apart, and measures nothing that changes them."""
    apart, together = (
        of(Loss(), Outcome(), Asking(), source=Pooled(128, 64)),
        of(Loss(), Outcome(), source=Pooled(128, 64)),
    )
    one, other = (train(run, [0, 1], "sequential").history for run in (apart, together))
    for name, values in other.metrics.items():
        np.testing.assert_allclose(values, one.metrics[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("strategy", ["vmap", "sequential"])
def test_a_step_computes_one_of_the_teachings_of_a_program(strategy):
    """Under vmap the choice between teachings stays a choice: a vmapped cond would compute all of them."""
    run = stacked([of(Loss(), Outcome())] * 3)
    plan, _ = plans(run)[0]

    def program(seeds, number):
        members = init_members(run, seeds)
        return train_members((plan, Call(number, False, 1)), members, 2, strategy)[1]

    jaxpr = jax.make_jaxpr(program)(np.arange(3), 0)
    assert {2, 3} <= set(branches(jaxpr.jaxpr))  # which loss is measured; standing, or which of two is taught


def branches(jaxpr) -> list[int]:
    """How many ways there are in every choice of a program."""
    found = []
    for equation in jaxpr.eqns:
        inner = jax.tree.leaves(list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns"))
        if equation.primitive.name == "cond":
            found.append(len(equation.params["branches"]))
        for each in inner:
            found += branches(getattr(each, "jaxpr", each)) if hasattr(each, "eqns") else []
    return found
