"""The speed of concentration against the loss it is the slope of."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models.features import ideal
from sorites.models.routing import Routing, loss
from sorites.models.srelu import SReLU
from sorites.tasks.actions import action_named
from sorites.theory.concentration import descent_time, limiting_time, log_speed
from sorites.theory.precision import in_float64
from sorites.training.lego_theory import two_steps

BEND = SReLU().width * (1 - 1 / SReLU().power)


@in_float64
def slope(name, size, clipping, score):
    action = action_named(name)
    features, batch = ideal(action, size, clipping, SReLU()), two_steps(action).batch

    def total(q):
        routing = Routing(q, jnp.zeros(()), q, jnp.zeros(()))
        return sum(loss(features, routing, batch.actions, batch.values, step) for step in (1, 2))

    return -float(jax.grad(total)(jnp.asarray(score)))


@pytest.mark.parametrize(("name", "clipping"), [("C4", 2.0), ("C6", 3.0), ("S3/itself", 2.5)])
def test_the_speed_is_the_slope_of_the_loss(name, clipping):
    size, values = 400, action_named(name).values
    for score in (1.5, 3.0, 6.0):
        law = np.exp(log_speed(score, size, clipping * np.log(size), values, BEND))
        assert slope(name, size, clipping, score) == pytest.approx(law, rel=2e-3)


def test_the_limit_is_approached_from_below():
    shares = []
    for size in (10**3, 10**5, 10**8):
        given = (size**-0.75, size, size, 2 * np.log(size), 6, BEND)
        shares.append(descent_time(*given) / limiting_time(*given))
    assert shares == sorted(shares)
    assert 0.99 < shares[-1] < 1
