"""What a run costs is counted from its program, and is the same on every machine."""

import jax

from sorites.papers.wen.experiments import Net
from sorites.training.cost import costs


def test_a_price_is_the_same_on_a_gpu(monkeypatch):
    """There attention is one kernel, whose products are not seen."""
    net = Net(layers=3, heads=2, width=16, hidden=16, batch=16, compute="bfloat16", held_out=16)
    run = net.case(0, 9, 3, 1e-3, 160, 3).run
    here = costs(run)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert costs(run) == here
    assert here[0].flops > 16 * 2 * 3 * 16 * 16  # one product with every sequence's asked positions, at least
