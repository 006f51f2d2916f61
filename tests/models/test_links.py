"""Links: the identities that make phi((a+b)/2) a gate, and their declared constants."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import LINKS, Cosine, QuadraticLinear, Quartic, link_named

ALL = [*LINKS.values(), QuadraticLinear(0.25), QuadraticLinear(0.05)]
GRID = np.linspace(-1, 1, 2001)


@pytest.fixture(params=ALL, ids=repr)
def link(request):
    return request.param


@pytest.fixture(scope="module")
def curves():
    """Values and slopes of every link on the grid, in float64."""
    with jax.enable_x64(True):
        grid = jnp.asarray(GRID)
        return {link: (np.asarray(link(grid)), np.asarray(jax.vmap(jax.grad(link))(grid))) for link in ALL}


def test_values_at_the_half_sums_of_signs(link):
    with jax.enable_x64(True):
        signs = jnp.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
        np.testing.assert_allclose(link(signs.sum(axis=1) / 2), signs.prod(axis=1), atol=1e-14)


def test_flat_at_the_half_sums_and_even(link, curves):
    values, slopes = curves[link]
    np.testing.assert_allclose(slopes[[0, 1000, 2000]], 0, atol=1e-13)
    np.testing.assert_allclose(values, values[::-1], atol=1e-13)
    assert values.min() >= -1 - 1e-14
    assert values.max() <= 1 + 1e-14


def test_curvature_and_slope_are_what_they_say(link, curves):
    values, slopes = curves[link]
    step = GRID[1001]
    assert (values[1001] + 1) / step**2 == pytest.approx(link.curvature, rel=1e-5)
    assert np.abs(slopes).max() == pytest.approx(link.lipschitz, rel=1e-5)
    assert link.lipschitz > 2


def test_slopes_are_derivatives_of_the_values(link, curves):
    values, slopes = curves[link]
    between = np.trapezoid(slopes, GRID)
    assert between == pytest.approx(values[-1] - values[0], abs=1e-6)
    np.testing.assert_allclose(np.gradient(values, GRID)[1:-1], slopes[1:-1], atol=25 * 1e-3)


def test_fast_cosine_is_the_cosine():
    grid = GRID.astype(np.float32)
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(Cosine())))(grid)
    exact = grid.astype(np.float64)
    np.testing.assert_allclose(values, -np.cos(np.pi * exact), atol=2e-6)
    np.testing.assert_allclose(slopes, np.pi * np.sin(np.pi * exact), atol=1e-5)
    assert values[1000] == -1
    assert slopes[1000] == 0


def test_quadratic_linear_at_one_half_is_the_published_link():
    with jax.enable_x64(True):
        t = jnp.asarray(GRID)
        pieces = jnp.where(t < -0.5, -4 * t**2 - 8 * t - 3, jnp.where(t < 0.5, 4 * t**2 - 1, -4 * t**2 + 8 * t - 3))
        np.testing.assert_allclose(QuadraticLinear(0.5)(t), pieces, atol=1e-13)


def test_names_and_refusals():
    assert link_named("quartic") == Quartic()
    assert link_named(QuadraticLinear(0.1)) == QuadraticLinear(0.1)
    with pytest.raises(SpecError, match=r"a link is one of cosine, quartic.*link='relu'"):
        link_named("relu")
    with pytest.raises(SpecError, match=r"a joint lies in \(0, 1/2\]: joint=0.7; use 0.5"):
        QuadraticLinear(0.7)
