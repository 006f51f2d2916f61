"""Clipped policy updates: on-policy they are the plain gradient, and refusals."""

import equinox as eqx
import jax
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import policy_for, positional
from sorites.supervision import PolicyGradient, credit
from sorites.tasks import Parity
from sorites.training import GD
from sorites.training.flow import gradient_flow
from sorites.training.proximal import Proximal

TASK = Parity(6, 4)
PLAIN = PolicyGradient(credit(TASK.layout))


def test_the_first_update_of_a_batch_is_the_plain_one():
    model, secret = positional(TASK, policy_for("parity"), "previous-level"), TASK.draw(jax.random.key(0))
    moved = []
    for clip in (0.0, 0.2):
        way = Proximal(PLAIN, GD(1.0), 512, 1, clip)
        state = way.rule.transformation().init(eqx.filter(model, eqx.is_array))
        moved.append(way.step(model, TASK, secret, state, jax.random.key(1))[0].weights)
    np.testing.assert_allclose(moved[0], moved[1], atol=1e-7)
    assert np.abs(moved[0]).max() > 0


def test_refusals():
    with pytest.raises(SpecError, match="epochs=0"):
        Proximal(PLAIN, GD(1.0), 512, 0, 0.2)
    with pytest.raises(SpecError, match="batch=10, group=4"):
        Proximal(PolicyGradient(credit(TASK.layout), "group", 4), GD(1.0), 10, 1, 0.2)
    with pytest.raises(SpecError, match="times of a flow increase"):
        gradient_flow(lambda w: w, np.zeros(1), np.zeros(2))
