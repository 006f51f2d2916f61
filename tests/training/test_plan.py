"""Stages that differ in nothing but what is taught share a program."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest

from sorites.models import gated
from sorites.probes import AbstractProbe, Elsewhere, Loss, Outcome
from sorites.supervision import Pooled, Sampled
from sorites.tasks import Parity
from sorites.training import AdamW, Evaluation, Run, Until, log_icot, sharing, stages, train
from sorites.training.curricula import full_chain
from sorites.training.lanes import spread_over
from sorites.training.member import Now, advance, born, enter
from sorites.training.plan import alone, partners_of, plans, structure_of
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
    assert first.teachings[0] is run.stages[0].taught
    assert second.teachings[1] is run.stages[1].taught
    assert alone(second, 1).teachings == (run.stages[1].taught,)


def test_a_probe_that_may_ask_what_is_taught_is_compiled_with_it():
    assert shared(of(Loss(), Outcome())) == [2, 2]
    assert shared(of(Loss(), Asking())) == [1, 1]
    assert shared(of(Elsewhere(TASK, (Outcome(),), "here"))) == [2, 2]
    assert shared(of(Elsewhere(TASK, (Asking(),), "here"))) == [1, 1]


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
    one, other = (train(run, [0, 1], "apart").history for run in (apart, together))
    for name, values in other.metrics.items():
        np.testing.assert_allclose(values, one.metrics[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("lanes", ["together", "apart"])
def test_of_all_that_a_program_teaches_a_step_does_one_thing(lanes):
    """The choice is still one in the program of many members; a vmap of a choice within a member's would do it all."""
    run = stacked([of(Loss(), Outcome())] * 3)
    plan, _ = plans(run)[0]

    def program(seeds, number):
        members = spread_over(lambda run, seed: enter(run.stages[0], born(run, seed)), lanes)(run, seeds)
        now = Now(number, False, 1)
        return spread_over(lambda plan, member: advance(plan, now, 2, lanes == "together", member)[1], lanes)(
            plan, members
        )

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


def taught_by(curriculum, *probes, model=None):
    evaluation = Evaluation(2, 64, probes or (Loss(), Outcome()))
    plan = stages(TASK, curriculum(TASK.layout), Pooled(128, 64), AdamW(0.3), 4, evaluation)
    return Run(model or gated(TASK), plan)


def compiled(function) -> list[str]:
    """The trainings that were compiled meanwhile."""
    names = []

    def listen(event, seconds, **told):
        if event.endswith("jaxpr_trace_duration") and told.get("fun_name") == "_advanced":
            names.append(told["fun_name"])

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        function()
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    return names


def test_runs_share_a_program():
    runs = [taught_by(log_icot), taught_by(full_chain)]
    apart = [train(run, [0, 1, 2], "apart").history for run in runs]

    def together():
        with sharing(runs):
            found.extend(train(run, [0, 1, 2], "apart").history for run in runs)

    found = []
    assert len(compiled(together)) == 1
    for one, other in zip(apart, found, strict=True):
        assert one.metrics.keys() == other.metrics.keys()
        for name, values in other.metrics.items():
            np.testing.assert_allclose(values, one.metrics[name], rtol=1e-5, atol=1e-6)


def test_only_what_can_be_shared_is():
    mine, longer = taught_by(log_icot), taught_by(full_chain)
    other = taught_by(full_chain, model=gated(TASK, "quartic"))
    asking = taught_by(full_chain, Loss(), Outcome(), Asking())
    with sharing([mine, longer, other, asking]):
        assert list(map(id, partners_of(mine))) == list(map(id, [mine, longer, asking]))
        assert list(map(id, partners_of(other))) == [id(other)]
        assert [len(plan.teachings) for plan, _ in plans(mine, partners_of(mine))] == [3, 3]
        assert [len(plan.teachings) for plan, _ in plans(asking, partners_of(asking))] == [1]
        numbers = [number for run in (mine, longer) for _, number in plans(run, partners_of(run))]
        assert numbers == [0, 1, 2]
    assert partners_of(mine) == []


@pytest.mark.parametrize("lanes", ["together", "apart"])
def test_who_shares_a_program_keeps_its_own_numbers(lanes):
    """Rates of members and weights of what is taught are data: a partner's are not taken, nor another member's."""

    def run(curriculum, rate, weight):
        terms = [dataclasses.replace(term, where=term.where * weight) for term in curriculum(TASK.layout)]
        plan = stages(TASK, terms, Pooled(128, 64), AdamW(rate), 4, Evaluation(2, 64, (Loss(), Outcome())))
        return Run(gated(TASK), plan)

    first, light = (
        [run(log_icot, rate, 1.0) for rate in (0.3, 0.05)],
        [run(log_icot, rate, 0.1) for rate in (0.3, 0.05)],
    )
    ensembles = [first, light, [run(full_chain, 0.3, 1.0)] * 2]
    apart = [train(runs, [0, 1], lanes).history for runs in ensembles]
    with sharing([runs[0] for runs in ensembles]):
        found = [train(runs, [0, 1], lanes).history for runs in ensembles]
    for one, other in zip(apart, found, strict=True):
        for name, values in other.metrics.items():
            np.testing.assert_allclose(values, one.metrics[name], rtol=1e-5, atol=1e-6)
    losses = [history.metrics["own.loss"] for history in found]
    np.testing.assert_allclose(
        losses[1][:, 0], 0.1 * losses[0][:, 0], rtol=1e-5
    )  # the same members, a tenth of the loss
    assert (losses[0][0, 1:] != losses[0][1, 1:]).all()


def test_ways_of_teaching_leave_with_their_members():
    """Finished members leave a shared program by halves, too: what is left of it teaches one thing."""

    evaluation = Evaluation(2, 64, (Loss(), Outcome()))

    def runs(number):
        taught, found = log_icot(TASK.layout)[number : number + 1], []
        for rate, bound in [(1e-6, 10.0)] * 3 + [(2.0, 0.0)]:
            until = Until("own.loss", bound, falls=True)
            plan = stages(TASK, taught, Sampled(64), AdamW(rate), 40, evaluation, until=until)
            found.append(Run(gated(TASK), plan))
        return found

    ensembles = [runs(0), runs(1)]
    apart = [train(each, range(4), "together", chunk=2).history for each in ensembles]
    with sharing([each[0] for each in ensembles]):
        found = [train(each, range(4), "together", chunk=2).history for each in ensembles]
    for one, other in zip(apart, found, strict=True):
        assert one.samples.tolist() == other.samples.tolist()
        np.testing.assert_allclose(other.metrics["own.loss"][3], one.metrics["own.loss"][3], rtol=1e-4, atol=1e-5)
