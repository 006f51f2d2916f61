"""What a token can be: a sign, or one of several classes."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, Num

from ..errors import require

Tokens = Num[Array, "*shape"]


@dataclasses.dataclass(frozen=True)
class Alphabet:
    """Static. Signs are +1 and -1; classes are the numbers 0 to vocab - 1.

    Parity lives on signs, LEGO and composition on classes. A model that reads token numbers gets `numbers`: a sign as
    the bit (1 - sign) / 2, so that the product of signs is the XOR of bits.
    """

    vocab: int = 2
    signs: bool = True
    values: tuple[int, int] | None = None  # first and one past the last class that a thought can take; None: all

    def __post_init__(self):
        require(self.vocab >= 2, f"an alphabet has two tokens or more: vocab={self.vocab}; use 2 or more")
        require(
            not self.signs or self.vocab == 2,
            f"there are two signs: vocab={self.vocab}; use 2, or classes (signs=False)",
        )

    def __str__(self) -> str:
        return "signs" if self.signs else f"{self.vocab} classes"

    def numbers(self, tokens: Tokens) -> Tokens:
        """0 to vocab - 1; soft signs become soft bits."""
        if not self.signs:
            return tokens.astype(jnp.int32)
        whole = jnp.issubdtype(tokens.dtype, jnp.integer)
        return (1 - tokens.astype(jnp.int32)) // 2 if whole else (1 - tokens) / 2

    def tokens(self, numbers: Tokens) -> Tokens:
        """The inverse of `numbers`."""
        return 1 - 2 * numbers if self.signs else numbers

    def corrupt(self, tokens: Tokens, key: Key[Array, ""], probability: float | Float[Array, ""]) -> Tokens:
        """Each token another one with that chance."""
        wrong = jax.random.bernoulli(key, probability, tokens.shape)
        if self.signs:
            return jnp.where(wrong, -tokens, tokens)
        first, last = self.values or (0, self.vocab)
        shift = jax.random.randint(jax.random.fold_in(key, 1), tokens.shape, 1, max(last - first, 2))
        other = first + (tokens - first + shift.astype(tokens.dtype)) % (last - first)
        return jnp.where(wrong & (tokens >= first) & (tokens < last), other, tokens)
