"""Parity as a sequence of bits, with the chain or without it (wen, Definitions 1 and 2), in two formats.

n=5, secret bits 1, 2, 4 of the input 0 1 0 1 0: without the chain 0 1 0 1 0 | 0 | 0, with it 0 1 0 1 0 | 0 | 0 1 0.
The token after the inputs is always 0. Bits are (1 - sign) / 2, so XOR is the product of signs.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key, UInt32

from ..errors import require
from .numbering import inputs_of, round_keys, shuffled

FORMATS = ("paper", "released")


class Secret(eqx.Module):
    """Which bits, and in which order the chain adds them; all data, so one compiled program serves every sparsity.
    Without a chain only the set matters. A chain with room for more thoughts goes on after its answer: tokens from
    `length` on are neither taught nor judged, and no earlier position can see them."""

    order: Int[Array, " thought"]  # empty without a chain
    mask: Int[Array, " bits"]
    length: Int[Array, ""]  # tokens that are read in earnest
    keys: UInt32[Array, " round"]  # the order in which inputs are drawn


class Sequences(eqx.Module):
    """Static: sizes only. thoughts = k with the chain (or more, see `Secret`), 0 without.

    format "paper": the token 0 follows the inputs; every thought is a target. "released" (the authors' code): without
    a chain the answer follows the inputs at once; with it the constant 0 is a target too.
    """

    bits: int = eqx.field(static=True)  # n
    thoughts: int = eqx.field(static=True)
    format: str = eqx.field(static=True, default="paper")
    held_out: int = eqx.field(static=True, default=2048)  # of validation; as many again are the test

    def __check_init__(self):
        require(self.format in FORMATS, f"a format is paper or released: format={self.format!r}; use one of the two")
        require(
            0 <= self.thoughts <= self.bits and self.bits >= 1,
            f"the secret is a subset of the bits: {self.thoughts} of {self.bits}; use fewer thoughts or more bits",
        )
        require(
            self.bits > 31 or 4 * self.held_out <= 2**self.bits,
            f"held-out and training inputs differ: 2 x {self.held_out} of 2^{self.bits} inputs are held out; "
            f"use held_out of at most {2**self.bits // 4 if self.bits < 32 else 0}",
        )

    @property
    def length(self) -> int:
        """Tokens that are read: all but the last."""
        if self.thoughts:
            return self.bits + self.thoughts
        return self.bits + (self.format == "paper")

    @property
    def queries(self) -> tuple[int, ...]:
        """0-based positions from which a target is predicted."""
        first = self.bits - (self.format == "released")
        return tuple(range(first, self.length))

    @property
    def trainable(self) -> int:
        """How many different inputs training may see."""
        return 2**31 - 1 if self.bits > 31 else 2**self.bits - 2 * self.held_out

    def draw(
        self, key: Key[Array, ""], sparsity: int, order: str = "ascending", secret: tuple[int, ...] | None = None
    ) -> Secret:
        """A secret of `sparsity` bits (positions from 0). The released code never makes the last bit secret."""
        require(
            1 <= sparsity <= self.bits,
            f"a secret has between one bit and all: sparsity={sparsity}, bits={self.bits}; use 1 to {self.bits}",
        )
        require(
            self.thoughts == 0 or sparsity <= self.thoughts,
            f"a chain has a thought per secret bit: thoughts={self.thoughts}, sparsity={sparsity}; use more thoughts",
        )
        require(order in ("ascending", "drawn"), f"an order is ascending or drawn: order={order!r}; use one of them")
        require(
            secret is None or (len(set(secret)) == len(secret) == sparsity and set(secret) <= set(range(self.bits))),
            f"a given secret has `sparsity` distinct positions from 0 to {self.bits - 1}: secret={secret}, "
            f"sparsity={sparsity}; list others",
        )
        choose, data = jax.random.split(key)
        among = self.bits - (self.format == "released" and sparsity < self.bits)
        chosen = jax.random.permutation(choose, among)[:sparsity] if secret is None else jnp.asarray(secret)
        chosen = jnp.sort(chosen) if order == "ascending" else chosen
        mask = jnp.zeros(self.bits, jnp.int32).at[chosen].set(1)
        steps = jnp.pad(chosen.astype(jnp.int32), (0, max(0, self.thoughts - sparsity)))[: self.thoughts]
        length = self.length - (self.thoughts - sparsity if self.thoughts else 0)
        return Secret(steps, mask, jnp.asarray(length, jnp.int32), round_keys(data))

    def taught(self, secret: Secret) -> Bool[Array, " target"]:
        """Which targets count."""
        return jnp.asarray(self.queries) < secret.length

    def complete(
        self, secret: Secret, inputs: Int[Array, "batch bits"]
    ) -> tuple[Int[Array, "batch position"], Int[Array, "batch target"]]:
        """The tokens that are read and their targets."""
        start = jnp.zeros((len(inputs), 1), inputs.dtype)  # b[n+1] = 0
        if not self.thoughts:
            answer = (inputs @ secret.mask & 1)[:, None]
            return (jnp.concatenate([inputs, start], axis=1) if self.format == "paper" else inputs), answer
        thoughts = jnp.cumsum(inputs[:, secret.order], axis=1) & 1  # b[i+1] = b[i] xor b[S[i]]
        tokens = jnp.concatenate([inputs, start, thoughts], axis=1)
        return tokens[:, :-1], tokens[:, self.queries[0] + 1 :]

    def fresh(self, secret: Secret, step: Int[Array, ""], batch: int):
        """The batch of that step of one-pass training; 2^n inputs come round again after the last one."""
        numbers = step.astype(jnp.uint32) * np.uint32(batch) + jnp.arange(batch, dtype=jnp.uint32)
        return self.complete(secret, inputs_of(numbers % np.uint32(self.trainable), secret.keys, self.bits))

    def repeated(self, secret: Secret, step: Int[Array, ""], batch: int, size: Int[Array, ""]):
        """The batch of that step of multi-pass training on the first `size` inputs, shuffled in every pass."""
        places = step.astype(jnp.uint32) * np.uint32(batch) + jnp.arange(batch, dtype=jnp.uint32)
        count = size.astype(jnp.uint32)
        numbers = shuffled(places % count, places // count, size, secret.keys)
        return self.complete(secret, inputs_of(numbers, secret.keys, self.bits))

    def validation(self, secret: Secret, count: int | None = None, test: bool = False):
        """Inputs that training never sees; the test set is disjoint from the validation set."""
        numbers = jnp.arange(count or self.held_out, dtype=jnp.uint32) + np.uint32(self.held_out * test)
        return self.complete(secret, inputs_of(numbers, secret.keys, self.bits, held_out=True))
