"""Parity as wen writes it (Definitions 1 and 2): a running XOR with a thought per secret bit, or the answer at once.

n=5, secret bits 1, 2, 4 of the input 0 1 0 1 0: without the chain 0 1 0 1 0 | 0 | 0, with it 0 1 0 1 0 | 0 | 0 1 0.
The constant 0 between inputs and thoughts is a model's start token. The sparsity is data: members of different k train
in one program.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key, UInt32

from ..errors import require
from .base import AbstractTask, compiled
from .chain import Chain
from .formats import bits_of_signs, signs_of_bits
from .layout import Layout
from .numbering import inputs_of, round_keys

FORMATS = ("paper", "released")


def _whole(value) -> Array | np.ndarray:
    return value if isinstance(value, jax.Array) else np.asarray(value, np.int32)


class Secret(eqx.Module):
    """Which bits, and in which order the chain adds them. A layout with room for more thoughts goes on after the
    answer: those thoughts are neither taught nor judged, and no earlier one can see them."""

    order: Int[Array, " thought"]  # 0 beyond the chain
    mask: Int[Array, " bits"]
    thoughts: Int[Array, ""]  # how many there are
    keys: UInt32[Array, " round"]  # the order in which inputs are numbered


class Sequences(AbstractTask):
    """y_1 = x_s1, y_j = y_{j-1} x_sj. `room` thoughts, of which the first k = `sparsity` count; room=0: the answer
    alone.

    format "released" (the authors' code) teaches the constant after the inputs too, as a first thought: a model then
    needs no start token. It never makes the last bit secret.
    """

    bits: int = eqx.field(static=True)  # n
    room: int = eqx.field(static=True)
    sparsity: Int[Array | np.ndarray, ""] = eqx.field(converter=_whole)  # k
    format: str = eqx.field(static=True, default="paper")
    validation: int = eqx.field(static=True, default=2048)  # inputs held out; as many again are spared for tests
    order: str = eqx.field(static=True, default="ascending")
    secret: tuple[int, ...] | None = eqx.field(static=True, default=None)  # positions from 0; None: drawn

    def __check_init__(self):
        bits, room = self.bits, self.room
        require(self.format in FORMATS, f"a format is paper or released: format={self.format!r}; use one of the two")
        require(
            0 <= room <= bits and bits >= 1,
            f"the secret is a subset of the bits: {room} of {bits}; use fewer thoughts or more bits",
        )
        require(
            bits > 31 or 4 * self.validation <= 2**bits,
            f"held-out and training inputs differ: 2 x {self.validation} of 2^{bits} inputs are held out; "
            f"use a validation of at most {2**bits // 4 if bits < 32 else 0}",
        )
        require(self.order in ("ascending", "drawn"), f"an order is ascending or drawn: order={self.order!r}; use one")
        if isinstance(self.sparsity, np.ndarray):
            most = bits - (self.format == "released" and self.secret is None)
            require(
                bool(((self.sparsity >= 1) & (self.sparsity <= most)).all()),
                f"a secret has between one bit and {most}: sparsity={self.sparsity.tolist()}; use 1 to {most}",
            )
            require(
                room == 0 or bool((self.sparsity <= room).all()),
                f"a chain has a thought per secret bit: room={room}, sparsity={self.sparsity.tolist()}; use more room",
            )
            require(
                self.secret is None
                or (
                    len(set(self.secret)) == len(self.secret) == self.sparsity and set(self.secret) <= set(range(bits))
                ),
                f"a given secret has `sparsity` distinct positions from 0 to {bits - 1}: secret={self.secret}, "
                f"sparsity={self.sparsity}; list others",
            )

    @property
    def constant(self) -> bool:
        """Whether the constant after the inputs is a thought of its own."""
        return self.format == "released" and self.room > 0

    @property
    def layout(self) -> Layout:
        return Layout(self.bits, tuple(range(1, max(self.room, 1) + self.constant + 1)))

    @property
    def trainable(self) -> int:
        return 2**31 - 1 if self.bits > 31 else 2**self.bits - 2 * self.validation

    @property
    def held_out(self) -> int:
        return 2 * self.validation

    @compiled
    def draw(self, key: Key[Array, ""]) -> Secret:
        choose, data = jax.random.split(key)
        count = jnp.asarray(self.sparsity, jnp.int32)
        if self.secret is None:
            among = self.bits - (self.format == "released")
            drawn = jax.random.permutation(choose, among)  # its first k: a sentinel hides the rest
            chosen = jnp.where(jnp.arange(among) < count, drawn, self.bits)
            chosen = jnp.pad(chosen, (0, self.bits - among), constant_values=self.bits)
        else:
            chosen = jnp.asarray(self.secret + (self.bits,) * (self.bits - len(self.secret)))
        chosen = jnp.sort(chosen) if self.order == "ascending" else chosen
        mask = jnp.zeros(self.bits, jnp.int32).at[chosen].set(1, mode="drop")
        steps = jnp.where(chosen < self.bits, chosen, 0)[: max(self.room, 1)].astype(jnp.int32)
        thoughts = count + self.constant if self.room else jnp.ones((), jnp.int32)
        return Secret(steps, mask, thoughts, round_keys(data))

    def counted(self, secret: Secret, tokens=None):
        return jnp.arange(self.layout.thoughts) < secret.thoughts

    def answer(self, secret: Secret, tokens=None) -> Int[Array, ""]:
        return secret.thoughts - 1

    @compiled
    def think(self, secret: Secret, bits: Int[Array, "batch bits"]) -> Chain:
        """The true chains over given inputs, as bits."""
        added = bits[:, secret.order] if self.room else (bits @ secret.mask)[:, None]
        thoughts = jnp.cumsum(added, axis=1) & 1  # b[i+1] = b[i] xor b[S[i]]
        start = jnp.zeros((len(bits), int(self.constant)), bits.dtype)
        tokens = jnp.concatenate([bits, start, thoughts], axis=1).T
        return Chain(signs_of_bits(tokens.astype(jnp.int8))[:, None], self.layout)

    @compiled
    def numbered(self, secret: Secret, numbers, held_out: bool = False) -> Chain:
        return self.think(secret, inputs_of(numbers, secret.keys, self.bits, held_out))

    @compiled
    def sample(self, secret: Secret, key: Key[Array, ""], count: int) -> Chain:
        return self.think(secret, jax.random.bernoulli(key, 0.5, (count, self.bits)).astype(jnp.int32))

    @compiled
    def children(self, secret: Secret, tokens=None) -> Int[Array, "thought child"]:
        """The thought before and the bit added. The first thought copies one bit, and a constant has no children.
        Without a chain, the children are the secret bits."""
        if not self.room:
            return jnp.nonzero(secret.mask, size=self.bits, fill_value=-1)[0][None].astype(jnp.int32)
        number = jnp.arange(self.room, dtype=jnp.int32)
        before = jnp.where(number > 0, self.bits + self.constant + number - 1, -1)
        found = jnp.stack([before, secret.order], axis=1)
        return jnp.concatenate([jnp.full((int(self.constant), 2), -1, jnp.int32), found])

    def relabel(self, secret: Secret, tokens):
        if not self.room:
            bits = bits_of_signs(tokens[: self.bits]).astype(jnp.int32)
            return signs_of_bits(jnp.tensordot(secret.mask, bits, 1) & 1)[None].astype(tokens.dtype)
        before = tokens[self.bits + self.constant : self.layout.positions - 1]
        first = tokens[secret.order[:1]]
        found = jnp.concatenate([first, before * tokens[secret.order[1:]]])
        return jnp.concatenate([jnp.ones_like(found[: int(self.constant)]), found])
