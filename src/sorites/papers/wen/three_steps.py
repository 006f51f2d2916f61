"""The three-step training of the simplified block (Appendix B.4) with rates that work at finite size.

Assumption 2's constants begin to hold beyond n = 10^43 (`sorites verify W19` prints them), so rates are decoupled:
eta0 = 2 c0 m eps sqrt(B) for W in steps one and two, eta_A chosen so that the target's score is G, eta2 = 16 m eps / 3.
"""

import dataclasses
import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from ...errors import require
from ...fast.compiler import fast_compile
from ...ledger import Between, Domain, alone
from ...models.sparse_block import (
    Forward,
    SparseBlock,
    embeddings,
    gradient,
    initial_block,
    initial_pattern,
)
from ...training import Lab
from .setting import counted, secret_fits

BLOCK = 128  # chains at a time: the active pattern of that many stays in the cache; B is data, not a shape


@dataclasses.dataclass(frozen=True)
class Recipe:
    bits: int = 30  # n
    sparsity: int = 8  # k
    width: int = 2048  # d
    neurons: int = 256  # m
    samples: int = 4096  # B, per step
    noise: float = 0.03  # c0
    epsilon: float = 1.0
    strength: float = 6.0  # G / log n
    start: str = "zero"  # b[n+1]: zero as in the paper, or uniform
    loss: str = "hinge"
    tied: bool = False  # one rate for A and W, as Assumption 2 has it
    seeds: int = 4

    def __post_init__(self):
        secret_fits(self.bits, self.sparsity)
        counted(self)
        require(self.start in ("zero", "uniform"), f"a start is zero or uniform: start={self.start!r}; use one of them")
        require(self.loss in ("hinge", "linear"), f"a loss is hinge or linear: loss={self.loss!r}; use one of them")
        require(
            self.samples >= BLOCK and self.samples % BLOCK == 0,
            f"a batch is whole blocks of {BLOCK} chains: samples={self.samples}; use a multiple of {BLOCK}",
        )

    @property
    def length(self) -> int:
        return self.bits + self.sparsity

    def rates(self) -> np.ndarray:
        """[step, (W, A)]."""
        first = 2 * self.noise * self.neurons * self.epsilon * math.sqrt(self.samples)
        goal = self.strength * math.log(self.bits)  # G
        attention = goal * 128 * self.neurons * (self.bits + self.sparsity / 2) ** 2 / first
        last = 16 * self.neurons * self.epsilon / 3
        if self.tied:
            return np.array([[first, first], [first, first], [last, last]])
        return np.array([[first, first], [first, attention], [last, last]])

    def orders(self) -> np.ndarray:
        """The secret of every seed, in the order in which the chain adds it (positions from 0)."""
        return np.stack(
            [np.random.default_rng(seed).permutation(self.bits)[: self.sparsity] for seed in range(self.seeds)]
        )


TINY = Recipe(20, 4, 1024, 192, 4096, seeds=2)  # for tests
LEARNS = (
    "k is at most n/3; below d = 2048, m = 192 or B = 4096 the large entry of i = n+1 leaks, or the neurons' imbalance or the "
    "batch's noise comes near the margin"
)
RECIPES = Domain(
    {
        "bits": Between(16, 40),
        "sparsity": Between(4, 10),
        "width": Between(2048, 4096, 256),
        "neurons": Between(192, 384, 32),
        "samples": Between(4096, 8192, 1024),
        "seeds": Between(2, 4),
    },
    where=lambda size: 3 * size.sparsity <= size.bits,
    because=LEARNS,
)
DECOUPLED = (
    "The rates of Assumption 2 begin to hold beyond n = 10^43; here W and A have rates of their own, chosen for the size "
    "(three_steps.py). The last step's rate is 16 m eps / 3."
)


def chains(
    key: Key[Array, ""], order: Int[Array, " thought"], bits: int, count: int, start: str
) -> tuple[Int[Array, "batch position"], Int[Array, "batch thought"]]:
    """Definition 2: the tokens that are read, and the thoughts to predict."""
    inputs_key, start_key = jax.random.split(key)
    words = jax.random.bits(inputs_key, (count, bits), jnp.uint8)
    inputs = (words & 1).astype(jnp.int32)
    first = jax.random.bits(start_key, (count, 1), jnp.uint8) & (start == "uniform")
    thoughts = (first.astype(jnp.int32) + jnp.cumsum(inputs[:, order], axis=1)) & 1
    return jnp.concatenate([inputs, first.astype(jnp.int32), thoughts[:, :-1]], axis=1), thoughts


def slope(reading: Forward, targets: Int[Array, "batch thought"], loss: str) -> Float[Array, "batch thought"]:
    """d loss / d output: (-1)^y, for the hinge only while 1 + (-1)^y output > 0."""
    sign = 1.0 - 2.0 * targets
    return jnp.where(1 + sign * reading.output > 0, sign, 0) if loss == "hinge" else sign


def batch_gradient(
    block: SparseBlock,
    key: Key[Array, ""],
    order: Int[Array, " thought"],
    blocks: Int[Array, ""],
    bits: int,
    start: str,
    loss: str,
) -> SparseBlock:
    """The gradient of the mean over a fresh batch of `blocks` times BLOCK chains."""

    tables = block.tables()

    def add(number, total):
        tokens, targets = chains(jax.random.fold_in(key, number), order, bits, BLOCK, start)
        reading = tables.read(tokens, bits)
        found = gradient(block, reading, slope(reading, targets, loss))
        return jax.tree.map(jnp.add, total, found)

    total = jax.lax.fori_loop(0, blocks, add, jax.tree.map(jnp.zeros_like, block))
    return jax.tree.map(lambda leaf: leaf / blocks, total)


class Outcome(NamedTuple):
    """Seeds along the leading axis: the block before each step and at the end, and how it does on fresh chains."""

    blocks: SparseBlock  # [seed, time 0..3, ...]
    tokens: Float[Array, " seed"]  # right thoughts
    sequences: Float[Array, " seed"]  # chains with every thought right
    rolled: Float[Array, " seed"]  # the same when the chain is the block's own
    share: Float[Array, "seed query"]  # least attention on the target, over chains
    missing: Float[Array, "seed query"]  # largest attention on all other keys; no difference of numbers near one
    margin: Float[Array, "seed query"]  # mean of (-1)^{y+1} output
    least: Float[Array, "seed query"]  # its minimum


@fast_compile
def _learn(grams, patterns, orders, rates, keys, blocks, *, bits, test, neurons, loss, start):
    def one(arguments):
        gram, pattern, order, key = arguments
        block = initial_block(gram, pattern, neurons)

        def step(block, turn):
            number, rate = turn
            move = batch_gradient(block, jax.random.fold_in(key, number), order, blocks, bits, start, loss)
            moved = eqx.tree_at(
                lambda b: (b.scores, b.own, b.seen),
                block,
                (
                    block.scores - rate[1] * move.scores,
                    block.own - rate[0] * move.own,
                    block.seen - rate[0] * move.seen,
                ),
            )
            return moved, block

        last, before = jax.lax.scan(step, block, (jnp.arange(3), rates))
        states = jax.tree.map(lambda many, end: jnp.concatenate([many, end[None]]), before, last)
        return (states, *_examine(last, jax.random.fold_in(key, 3), order, bits, test, start))

    return jax.lax.map(one, (grams, patterns, orders, keys))


def _examine(block: SparseBlock, key, order, bits: int, count: int, start: str):
    tokens, targets = chains(key, order, bits, count, start)
    tables, last = block.tables(), bits + len(order) - 1
    reading = tables.read(tokens, bits)
    sign = 2.0 * targets - 1.0
    right = reading.output * sign > 0
    where = (2 * order)[None, :, None] + jnp.stack([0 * order, 0 * order + 1], axis=-1)[None]
    where = jnp.broadcast_to(where, (count, *where.shape[1:]))
    share = jnp.take_along_axis(reading.spread, where, axis=-1).sum(-1)
    missing = jnp.put_along_axis(reading.spread, where, 0.0, axis=-1, inplace=False).sum(-1)
    rolled = tokens
    for place in range(bits, last):  # write the thought there, then read on
        rolled = rolled.at[:, place + 1].set((tables.output(rolled, place) > 0).astype(jnp.int32))
    final = (tables.output(rolled, last) > 0).astype(jnp.int32)
    own = jnp.concatenate([rolled[:, bits + 1 :], final[:, None]], axis=1)
    return (
        right.mean(),
        right.all(axis=1).mean(),
        (own == targets).all(axis=1).mean(),
        share.min(axis=0),
        missing.max(axis=0),
        (reading.output * sign).mean(axis=0),
        (reading.output * sign).min(axis=0),
    )


def starts(recipe: Recipe) -> tuple[Array, Array, Array]:
    """Embedding Gram matrices, first patterns and keys of every seed."""
    grams, patterns, keys = [], [], []
    for seed in range(recipe.seeds):
        table_key, pattern_key, data_key = jax.random.split(jax.random.key(seed), 3)
        table = embeddings(table_key, recipe.length, recipe.width)
        grams.append(table @ table.T)
        patterns.append(initial_pattern(pattern_key, recipe.neurons, recipe.bits, recipe.sparsity, recipe.epsilon))
        keys.append(data_key)
    return jnp.stack(grams), jnp.stack(patterns), jnp.stack(keys)


def learn(recipe: Recipe, rates: np.ndarray | None = None, test: int = 512) -> Outcome:
    """Three steps of every seed. Other rates ([step, (W, A)]; zero freezes) do not recompile."""
    rates = recipe.rates() if rates is None else rates
    grams, patterns, keys = starts(recipe)
    found = _learn(
        grams, patterns, jnp.asarray(recipe.orders(), jnp.int32), jnp.asarray(rates, jnp.float32), keys,
        jnp.asarray(recipe.samples // BLOCK), bits=recipe.bits, test=test, neurons=recipe.neurons, loss=recipe.loss, start=recipe.start,
    )  # fmt: skip
    return Outcome(*found)


def learned(recipe: Recipe, lab: Lab, rates: np.ndarray | None = None) -> Outcome:
    """The recipe with its own rates, or others."""
    spec = alone(Recipe, recipe), recipe.rates() if rates is None else rates
    block = SparseBlock(*[jnp.zeros((1, 1))] * 4, head=jnp.zeros(1))
    kept = lab.keep(spec, _learned, like=Outcome(block, *range(7)))  # pyright: ignore[reportArgumentType]
    return jax.tree.map(jnp.asarray, kept)


def _learned(spec: tuple[Recipe, np.ndarray]) -> Outcome:
    return learn(*spec)
