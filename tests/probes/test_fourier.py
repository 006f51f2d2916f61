"""Fourier coefficients of models whose answer is known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import AbstractModel, SignLogits
from sorites.probes import Fourier
from sorites.probes.fourier import relied_on
from sorites.tasks import Lego, Parity, Sequences


class Either(AbstractModel):
    """Answers with the OR of two inputs, true is +1."""

    places: tuple[int, int] = eqx.field(static=True)

    def predict(self, chain, depth=None, key=None):
        first, second = (chain.tokens[place] for place in self.places)
        said = jnp.where((first > 0) | (second > 0), 1.0, -1.0)
        return SignLogits(jnp.broadcast_to(said, (chain.layout.thoughts, 1)))


def measured(task, places, most=2, count=4096):
    secret = task.draw(jax.random.key(0))
    chains = task.sample(secret, jax.random.key(1), count)
    found = Fourier(most=most)(Either(places), task, secret, chains, ())
    return {name: np.asarray(each) for name, each in found.items()}


def test_a_half_learned_parity_has_four_coefficients():
    found = measured(Sequences(8, 0, 2, validation=16, secret=(2, 5)), (2, 5))
    assert np.abs(found["fourier"] - [0.5, 0.5, 0.5, -0.5]).max() < 4.5 * found["fourier.error"].max()
    assert found["fourier.error"] == pytest.approx(np.sqrt((1 - found["fourier"] ** 2) / 4095))
    assert found["fourier.mass"] == pytest.approx(1, abs=0.05)


def test_what_depends_on_other_bits_has_its_mass_elsewhere():
    found = measured(Sequences(8, 0, 2, validation=16, secret=(2, 5)), (2, 6))
    assert found["fourier.mass"] == pytest.approx(0.5, abs=0.08)


def test_sets_beyond_the_secret_are_not_there():
    found = measured(Sequences(8, 0, 2, validation=16, secret=(2, 5)), (2, 5), most=3)
    assert np.isnan(found["fourier"]).tolist() == [False] * 4 + [True] * 4


@pytest.mark.parametrize("task", [Sequences(8, 0, 3, validation=16), Sequences(8, 3, 3, validation=16), Parity(8, 4)])
def test_the_answer_relies_on_the_secret(task):
    secret = task.draw(jax.random.key(3))
    inputs = np.asarray(relied_on(task, secret))
    chains = task.sample(secret, jax.random.key(4), 256)
    answer = chains.tokens[task.layout.inputs + task.answer(secret), 0]
    assert (np.prod(np.asarray(chains.tokens[: task.layout.inputs, 0])[inputs], axis=0) == np.asarray(answer)).all()


def test_classes_are_refused():
    task = Lego("C3", 2, 6)
    with pytest.raises(SpecError, match="signs"):
        Fourier()(Either((0, 1)), task, task.draw(jax.random.key(0)), task.sample((), jax.random.key(0), 2), ())


def test_how_many_inputs_are_listed():
    assert [Fourier(most=most).most for most in (1, 12)] == [1, 12]
    for most in (0, 13):
        with pytest.raises(SpecError, match=f"most={most}"):
            Fourier(most=most)
