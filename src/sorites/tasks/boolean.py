"""Sparse Boolean functions, computed gate by gate along a tree or a serial chain, or in one flat thought."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from ..errors import require
from ..fields import require_whole
from .base import AbstractTask, compiled
from .chain import Chain
from .formats import signs_of_bits
from .gates import Gate, gate_named
from .layout import Layout
from .numbering import ROUNDS, inputs_of, mixed


def _tuple(indices: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if indices is None else tuple(int(index) for index in indices)


DECOMPOSITIONS = ("tree", "serial", "flat")
HELD_OUT = 2048  # numbered inputs that training never sees, where there are enough
Bits = Int[Array, " secret"] | Int[np.ndarray, " secret"]  # positions of the secret bits


class Boolean(AbstractTask):
    """The gate folded over `sparsity` secret bits among `bits` uniform signs.

    tree: the secret bits, in increasing order, are paired left to right, level by level.
      bits=8, secret (0, 2, 5, 7): x8 = x0 x2, x9 = x5 x7, x10 = x8 x9 is the answer.
    serial: y1 = gate(x_s1, x_s2), then y_j = gate(y_{j-1}, x_s{j+1}).
      bits=8, secret (0, 2, 5): x8 = x0 x2, x9 = x8 x5 is the answer.
    flat: no chain at all, the answer is the only thought and every secret bit its child.
      bits=8, secret (0, 2, 5): x8 = x0 x2 x5 is the answer.
    """

    bits: int = eqx.field(static=True)  # n, d
    sparsity: int = eqx.field(static=True)  # k
    gate: Gate = eqx.field(static=True, converter=gate_named, default="parity")  # pyright: ignore
    decomposition: str = eqx.field(static=True, default="tree")
    secret: tuple[int, ...] | None = eqx.field(static=True, converter=_tuple, default=None)  # None: drawn
    pairing: tuple[int, ...] | None = eqx.field(static=True, converter=_tuple, default=None)  # of the leaves

    def __check_init__(self):
        bits, sparsity = self.bits, self.sparsity
        require_whole(bits=bits, sparsity=sparsity)
        require(
            self.decomposition in DECOMPOSITIONS,
            f"a decomposition is one of {', '.join(DECOMPOSITIONS)}: decomposition={self.decomposition!r}; use one",
        )
        require(sparsity >= 2, f"a chain needs at least two secret bits: sparsity={sparsity}; use 2 or more")
        require(
            sparsity <= bits,
            f"the secret is a subset of the bits: sparsity={sparsity} > bits={bits}; use a sparsity of at most {bits}",
        )
        below = 2 ** (sparsity.bit_length() - 1)
        require(
            self.decomposition != "tree" or below == sparsity,
            f"a tree needs a power of two: sparsity={sparsity}; use {below} or {2 * below}, or decomposition='serial'",
        )
        if self.secret is not None:
            good = len(set(self.secret)) == sparsity == len(self.secret)
            good = good and all(0 <= index < bits for index in self.secret)
            require(
                good,
                f"a secret is {sparsity} distinct positions from 0 to {bits - 1}: secret={self.secret}; "
                "remove repeats and positions out of range",
            )
        if self.pairing is not None:
            require(
                sorted(self.pairing) == list(range(sparsity)),
                f"a pairing permutes the {sparsity} leaves: pairing={self.pairing}; "
                f"use each of 0 to {sparsity - 1} once",
            )

    @property
    def layout(self) -> Layout:
        if self.decomposition == "serial":
            return Layout(self.bits, tuple(range(1, self.sparsity)))
        if self.decomposition == "flat":
            return Layout(self.bits, (1,))
        depth = self.sparsity.bit_length() - 1
        sizes = [self.sparsity >> level for level in range(1, depth + 1)]
        return Layout(self.bits, tuple(level + 1 for level, size in enumerate(sizes) for _ in range(size)))

    @property
    def words(self) -> tuple[str, ...]:
        """Parity as the XOR of bits; every other gate on truth values, so that 1 and 1 is 1."""
        return ("0", "1") if self.gate.name == "parity" else ("1", "0")

    @compiled
    def draw(self, key: Key[Array, ""]) -> Int[Array, " secret"]:
        if self.secret is not None:
            return jnp.asarray(sorted(self.secret), jnp.int32)
        return jnp.sort(jax.random.permutation(key, self.bits)[: self.sparsity])

    def leaves(self, secret: Bits) -> Bits:
        """The secret bits in the order in which the chain consumes them."""
        secret = jnp.asarray(secret)
        return secret if self.pairing is None else secret[np.asarray(self.pairing)]

    @compiled
    def children(self, secret: Bits, tokens=None) -> Int[Array, "thought child"]:
        if self.decomposition == "flat":
            return jnp.asarray(self.leaves(secret))[None]
        leaves, thoughts = self.leaves(secret), self.bits + np.arange(self.sparsity - 1)
        if self.decomposition == "serial":
            first = jnp.concatenate([leaves[:1], jnp.asarray(thoughts[:-1], leaves.dtype)])
            return jnp.stack([first, leaves[1:]], axis=1)
        nodes = jnp.concatenate([leaves, jnp.asarray(thoughts, leaves.dtype)])
        return nodes[: 2 * (self.sparsity - 1)].reshape(-1, 2)  # node k+i joins nodes 2i and 2i+1

    @compiled
    def inputs(self, key: Key[Array, ""], count: int) -> Int[Array, "bits count"]:
        """Uniform signs, unpacked from random 32-bit words."""
        words = jax.random.bits(key, (-(-self.bits // 32), count), jnp.uint32)
        where = np.arange(self.bits)
        drawn = (words[where // 32] >> (where % 32).astype(np.uint32)[:, None]) & 1
        return 1 - 2 * drawn.astype(jnp.int8)

    @compiled
    def think(self, secret: Bits, inputs: Int[Array, "bits count"]) -> Chain:
        """The true chains over given inputs."""
        leaves = inputs[self.leaves(secret)]
        if self.decomposition == "serial":
            thoughts = _serial(self.gate, leaves)
        elif self.decomposition == "flat":
            thoughts = _serial(self.gate, leaves)[-1:]
        else:
            levels = [leaves]
            while levels[-1].shape[0] > 1:
                levels.append(self.gate(levels[-1][0::2], levels[-1][1::2]))
            thoughts = jnp.concatenate(levels[1:])
        tokens = jnp.concatenate([inputs, thoughts])
        return Chain(tokens[:, None], self.layout)

    def sample(self, secret: Bits, key: Key[Array, ""], count: int) -> Chain:
        return self.think(secret, self.inputs(key, count))

    @compiled
    def enumerate(self, secret: Bits) -> Chain:
        """Every input once."""
        require(self.bits <= 24, f"enumeration is for at most 24 bits: bits={self.bits}; sample instead")
        codes = jnp.arange(2**self.bits, dtype=jnp.uint32)
        signs = 1 - 2 * ((codes[None] >> np.arange(self.bits, dtype=np.uint32)[:, None]) & 1).astype(jnp.int8)
        return self.think(secret, signs)

    @property
    def held_out(self) -> int:
        return HELD_OUT if self.bits > 31 else min(HELD_OUT, 2**self.bits // 8)

    @property
    def trainable(self) -> int:
        return 2**31 - 1 if self.bits > 31 else 2**self.bits - self.held_out

    @compiled
    def numbered(self, secret: Bits, numbers, held_out: bool = False) -> Chain:
        """In an order that the secret fixes."""
        word = jnp.sum(mixed(jnp.asarray(secret).astype(jnp.uint32) + np.uint32(1)), dtype=jnp.uint32)
        keys = mixed(word + np.arange(1, ROUNDS + 1, dtype=np.uint32))
        return self.think(secret, signs_of_bits(inputs_of(numbers, keys, self.bits, held_out).T.astype(jnp.int8)))

    def relabel(self, secret, tokens):
        child = self.children(secret)
        value = self.gate(tokens[child[:, 0]], tokens[child[:, 1]])
        for place in range(2, child.shape[1]):
            value = self.gate(value, tokens[child[:, place]])
        return value


def _serial(gate: Gate, leaves: Int[Array, "leaf count"]) -> Int[Array, "thought count"]:
    def step(state, leaf):
        state = gate(state, leaf)
        return state, state

    _, thoughts = jax.lax.scan(step, leaves[0], leaves[1:])
    return thoughts


def Parity(bits: int, sparsity: int, decomposition: str = "tree", secret=None, pairing=None) -> Boolean:
    """`Boolean` with the parity gate."""
    return Boolean(bits, sparsity, "parity", decomposition, secret, pairing)  # pyright: ignore
