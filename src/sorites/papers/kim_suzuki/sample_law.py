"""How many samples one step needs: Theorem 5 at every n of a grid in one pass, because the mean gradient of the first n
samples is a running mean. Plain arrays, so that a bare GPU machine can measure it."""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...fast.compiler import optimized
from ...models.positional import positional
from ...statistics import Slope, log_log_slope
from ...supervision import FilteredPrefix, teacher_forcing
from ...tasks import Boolean, Parity
from ...theory import tree_law
from ...training import Lab

BLOCK = 256  # samples per block; the grid counts blocks
TOGETHER = 64  # seeds computed at once
NEEDED = 0.9  # share of seeds that must answer every held-out chain


@dataclasses.dataclass(frozen=True)
class SampleLaw:
    """sparsity 0 is half of the bits. The strength K grows with the size as concentration asks (see `strength`)."""

    bits: tuple[int, ...] = (16, 24, 32, 48, 64, 96, 128)
    sparsity: int = 8
    finest: int = 3  # grid points per doubling of n
    doublings: int = 9  # n from one block to 2^doublings blocks
    chains: int = 1000  # held out
    seeds: int = 40

    def __post_init__(self):
        require(len(self.bits) >= 1, "a law needs sizes: bits=(); use at least one")
        require(
            self.finest >= 1 and self.doublings >= 1,
            f"a grid has points: finest={self.finest}, doublings={self.doublings}; use 1 or more of each",
        )

    def samples(self) -> np.ndarray:
        """n on the grid."""
        steps = self.finest * self.doublings
        return BLOCK * np.unique(np.round(2 ** (np.arange(steps + 1) / self.finest)).astype(int))

    def task(self, bits: int) -> Boolean:
        return Parity(bits, self.sparsity or bits // 2)


def strength(bits: int, sparsity: int) -> float:
    """K at which the weakest children just concentrate: K s(N) (d/N)^2 = ln(d+k) + 3 with N = d+k-2 keys (KS-18)."""
    keys = bits + sparsity - 2
    return (math.log(bits + sparsity) + 3) / (tree_law.exchangeable_signal(keys) * (bits / keys) ** 2)


def noise_law(bits: int, sparsity: int) -> float:
    """N K^2 log N: samples, up to a constant, at which no weight's noise sqrt(2) K sqrt(N/n) stands out (KS-17)."""
    keys = bits + sparsity - 2
    return keys * strength(bits, sparsity) ** 2 * math.log(keys)


def success(size: SampleLaw, lab: Lab) -> np.ndarray:
    """bool[size, n, seed]: is every held-out answer right after one step on n samples?"""
    return lab.keep(size, _success)["right"]


def _success(size: SampleLaw) -> dict[str, np.ndarray]:
    blocks, seeds = jnp.asarray(size.samples() // BLOCK), jnp.arange(size.seeds)
    found = []
    for bits in size.bits:
        task = size.task(bits)
        rate = strength(bits, task.sparsity) * bits**2 / (2 * tree_law.CURVATURE)
        found.append(np.asarray(_one_size(task, size.chains, jnp.asarray(rate), blocks, seeds)).T)
    return {"right": np.stack(found)}


@optimized
def _one_size(task: Boolean, chains: int, rate, blocks, seeds):
    model, taught = positional(task, "cosine", "causal"), teacher_forcing(task.layout)

    def member(seed):
        draw, test, train = jax.random.split(jax.random.key(seed), 3)
        secret = task.draw(draw)
        held = task.sample(secret, test, chains)
        secretly = eqx.filter_grad(lambda model, batch: taught(model, task, secret, batch, train))

        def add(block, total):
            return total + secretly(model, task.sample(secret, jax.random.fold_in(train, block), BLOCK)).weights

        def grow(carry, until):
            total, done = carry
            total = jax.lax.fori_loop(done, until, add, total)
            stepped = eqx.tree_at(lambda m: m.weights, model, -rate * total / until)
            answer = FilteredPrefix()(stepped, held, train, None).prediction.mean()[-1, 0]
            return (total, until), jnp.all(answer * held.tokens[-1, 0] > 0)

        return jax.lax.scan(grow, (jnp.zeros_like(model.weights), 0), blocks)[1]

    return jax.lax.map(member, seeds, batch_size=TOGETHER)


def smallest(size: SampleLaw, lab: Lab) -> np.ndarray:
    """The first n of the grid with the needed share of seeds; NaN where none has."""
    share = success(size, lab).mean(axis=2) >= NEEDED
    return np.where(share.any(axis=1), size.samples()[share.argmax(axis=1)], np.nan)


def exponents(size: SampleLaw, lab: Lab) -> tuple[Slope, Slope]:
    """Slopes in log d of the smallest n, and of the noise law at the same sizes."""
    bits, needed = np.array(size.bits, float), smallest(size, lab)
    known = np.isfinite(needed)
    law = np.array([noise_law(d, size.task(d).sparsity) for d in size.bits])
    return log_log_slope(bits[known], needed[known]), log_log_slope(bits[known], law[known])
