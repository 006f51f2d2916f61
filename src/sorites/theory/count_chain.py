"""The exact policy gradient at uniform attention, for any number of bits (rl-sft, Sec. 4 and App. F, made exact).

At uniform attention a thought of level t sees only S, the sum of the D tokens below it: given S the d_t tokens of
its level are independent with mean q(S/D), so the number of +1 is a Markov chain over levels, and by exchangeability
every expectation is a symmetric polynomial of S.
"""

import functools
import itertools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Link = Callable[[Float[Array, "*shape"]], Float[Array, "*shape"]]  # q = 2 psi - 1
Gate = tuple[float, float, float]  # phi_2(a, b) = g0 + g1 (a + b) + g2 ab
GATE_COEFFICIENTS: dict[str, Gate] = {
    "parity": (0.0, 0.0, 1.0),
    "and": (-0.5, 0.5, 0.5),
    "or": (0.5, 0.5, -0.5),
    "nand": (0.5, -0.5, -0.5),
    "nor": (-0.5, -0.5, 0.5),
    "xor": (0.0, 0.0, -1.0),
}


class Uniform(NamedTuple):
    """At uniform attention, by level: ascent direction on children and on the others, and the chance of +1."""

    relevant: Float[Array, " level"]  # G_1
    irrelevant: Float[Array, " level"]  # G_2
    plus: Float[Array, " level"]  # P(y = 1)
    square: Float[Array, " level"]  # E q^2 of the level itself, given the one below


def binomial(count: int, probability: Float[Array, " state"]) -> Float[Array, "state number"]:
    """P(number of successes), for each chance."""
    number = jnp.arange(count + 1)
    ways = jax.scipy.special.gammaln(count + 1) - jax.scipy.special.gammaln(number + 1)
    ways = ways - jax.scipy.special.gammaln(count - number + 1)
    probability, number = probability[:, None], number[None]
    logs = jax.scipy.special.xlogy(number, probability) + jax.scipy.special.xlog1py(count - number, -probability)
    return jnp.exp(ways[None] + logs)


def level_sizes(bits: int, sparsity: int) -> list[int]:
    """d_0 = d, d_t = k / 2^t."""
    return [bits, *(sparsity >> level for level in range(1, sparsity.bit_length()))]


def moments(total: Float[Array, " state"], size: int) -> tuple[Array, Array, Array]:
    """E[y_1], E[y_1 y_2], E[y_1 y_2 y_3] of exchangeable signs whose sum is S (zero where there are too few)."""
    first = total / size
    second = (total**2 - size) / (size * max(size - 1, 1))
    third = total * (total**2 - 3 * size + 2) / (size * max(size - 1, 1) * max(size - 2, 1))
    return first, second, third if size > 2 else 0 * total


@functools.partial(jax.jit, static_argnames=("bits", "sparsity", "link", "gate"))
def uniform_gradient(bits: int, sparsity: int, link: Link, gate: Gate) -> Uniform:
    """G_p = (1/D) E[gamma_p - mean gamma], gamma_p = (2/(k-1)) psi'(S/D) phi_2 y_p (Lemma D.2 at uniform attention)."""
    sizes, slope = level_sizes(bits, sparsity), jax.vmap(jax.grad(lambda z: link(z) / 2))
    state = binomial(bits, jnp.full((1,), 0.5))[0]  # P(number of +1 in x)
    found = []
    for size, here in itertools.pairwise(sizes):
        total = 2.0 * jnp.arange(size + 1) - size
        first, second, third = moments(total, size)
        child = gate[0] * first + gate[1] * (1 + second) + gate[2] * first  # E[phi_2 y_1 | S]
        other = gate[0] * first + 2 * gate[1] * second + gate[2] * third  # E[phi_2 y_3 | S]
        steep = slope(total / size)
        gain = state * 2 * steep / (sparsity - 1) / size
        apart = (child - other) / size  # child - mean = (D-2) apart, other - mean = -2 apart
        mean = link(total / size)
        plus = state @ ((1 + mean) / 2)
        pull = gain @ apart if size > 2 else jnp.zeros(())  # two tokens below: both are children
        found.append((pull * (size - 2), -2 * pull, plus, state @ mean**2))
        state = state @ binomial(here, (1 + mean) / 2)
    return Uniform(*(jnp.stack(column) for column in zip(*found, strict=True)))


def below(bits: int, sparsity: int, link: Link, level: int) -> tuple[np.ndarray, np.ndarray]:
    """The sums S of the tokens below a level and their chances, at uniform attention."""
    sizes = level_sizes(bits, sparsity)
    state = binomial(bits, jnp.full((1,), 0.5))[0]
    for size, here in itertools.pairwise(sizes[:level]):
        state = state @ binomial(here, (1 + link((2.0 * jnp.arange(size + 1) - size) / size)) / 2)
    size = sizes[level - 1]
    return 2 * np.arange(size + 1) - size, np.asarray(state)
