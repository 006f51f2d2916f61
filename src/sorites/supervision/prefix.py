"""What the model reads before it predicts: the true thoughts, some of them padded, or its own."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Key, Num

from ..errors import require
from ..models import AbstractModel, AbstractSaid
from ..models.said import HOWS, held_out_key
from ..tasks import Chain

DROPOUT = 1_000_033  # folds the dropout's key out of the term's


class Reading(eqx.Module):
    """A batch as the model met it: the tokens it had before it, and what it said about every thought."""

    tokens: Num[Array, "position slot batch"]
    said: AbstractSaid


class AbstractPrefix(eqx.Module):
    """Reads a batch of true chains. Without a key nothing is dropped, and own thoughts are always the same; own
    thoughts are written and read without dropout."""

    @abc.abstractmethod
    def __call__(
        self, model: AbstractModel, chains: Chain, key: Key[Array, ""] | None, depth: int | None
    ) -> Reading: ...


def _mask(shown) -> Array | np.ndarray | None:
    return shown if shown is None or isinstance(shown, jax.Array) else np.asarray(shown, bool)


class Shown(AbstractPrefix):
    """True thoughts where `shown`, padding elsewhere: none shown is no chain. None: all of them, which a model knows
    before compilation."""

    shown: Bool[Array | np.ndarray, " position"] | None = eqx.field(converter=_mask, default=None)

    def __call__(self, model, chains, key, depth):
        shown = None if self.shown is None else jnp.asarray(self.shown)
        drop = None if key is None else jax.random.fold_in(key, DROPOUT)
        return Reading(chains.tokens, model.read_batch(chains.with_shown(shown), depth, drop))


class Own(AbstractPrefix):
    """The model's own thoughts, written in its own rounds.

    soft: the means themselves, differentiated; greedy: the likeliest token, a constant;
    sampled: drawn from the model, a constant.
    """

    how: str = eqx.field(static=True)

    def __check_init__(self):
        require(
            self.how in HOWS,
            f"own thoughts are soft, greedy or sampled: how={self.how!r}; use one of the three",
        )

    def __call__(self, model, chains, key, depth):
        key = held_out_key() if key is None else key
        return Reading(*model.own(chains, key, self.how, depth))
