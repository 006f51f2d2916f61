"""What a run costs is counted from its program, and is the same on every machine."""

import jax
import pytest

from sorites.models.positional import positional
from sorites.papers.wen.experiments import Net
from sorites.probes import Outcome
from sorites.supervision import Sampled, direct
from sorites.tasks import Parity
from sorites.training import GD, Evaluation, Run, Stage, Until
from sorites.training.cost import costs, passes


def test_a_price_is_the_same_on_a_gpu(monkeypatch):
    """There attention is one kernel, whose products are not seen."""
    net = Net(layers=3, heads=2, width=16, hidden=16, batch=16, compute="bfloat16", held_out=16)
    run = net.case(0, 9, 3, 1e-3, 160, 3).run
    here = costs(run)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert costs(run) == here
    assert here[0].flops > 16 * 2 * 3 * 16 * 16  # one product with every sequence's asked positions, at least


@pytest.mark.parametrize(
    ("goal", "count"),
    [("padded.answer", 1), ("forced.chain", 1), ("rolled.answer", 3), ("soft.answer", 3), ("own.loss", None)],
)
def test_how_often_a_model_reads_before_it_answers(goal, count):
    """Once where the thoughts are given or padded, once for every round where it writes them: three levels of eight."""
    task = Parity(8, 8)
    probes = (Outcome("padded"), Outcome("forced"), Outcome("rolled"), Outcome("soft"))
    stage = Stage(task, (direct(task.layout),), Sampled(4), GD(1.0), 2, Evaluation(1, 4, probes))
    assert passes(Run(positional(task), [stage], Until(goal))) == count
