"""What the model reads before it predicts: the true thoughts, some of them padded, or its own."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Key, Num

from ..errors import SpecError, require
from ..fields import shown
from ..models import AbstractModel, AbstractPrediction
from ..models.prediction import HOWS, held_out_key
from ..tasks import Chain

DROPOUT = 1_000_033  # folds the dropout's key out of the term's


class PrefixOutput(eqx.Module):
    """The tokens that a model was given, and its prediction of every thought."""

    tokens: Num[Array, "position slot batch"]
    prediction: AbstractPrediction


class AbstractPrefix(eqx.Module):
    """What the model reads before each thought."""

    @abc.abstractmethod
    def __call__(
        self, model: AbstractModel, chains: Chain, key: Key[Array, ""] | None, depth: int | None
    ) -> PrefixOutput:
        """Let the model read a prefix and predict every thought.

        Args:
            model: predicts.
            chains: a batch of true chains.
            key: for sampled thoughts and dropout. None in evaluations: nothing is dropped, and sampled thoughts are
                always the same.
            depth: how many layers are computed; None for all.

        Returns:
            The tokens that the model was given, and its prediction.
        """


def _mask(mask) -> Array | np.ndarray | None:
    if mask is None or isinstance(mask, jax.Array):
        return mask
    found = np.asarray(mask)
    if found.dtype.kind not in "bi" or found.ndim != 1:
        raise SpecError(
            f"got shown={shown(mask)}; allowed is a list of True and False, one for each position; use for example "
            "inputs_only(task.layout)"
        )
    return found.astype(bool)


class TruePrefix(AbstractPrefix):
    """True thoughts where `shown`, padding elsewhere: none shown is no chain. None: all of them, which a model knows
    before compilation."""

    shown: Bool[Array | np.ndarray, " position"] | None = eqx.field(converter=_mask, default=None)

    def __call__(self, model, chains, key, depth):
        shown = None if self.shown is None else jnp.asarray(self.shown)
        drop = None if key is None else jax.random.fold_in(key, DROPOUT)
        return PrefixOutput(chains.tokens, model.predict_batch(chains.with_shown(shown), depth, drop))


class OwnPrefix(AbstractPrefix):
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
        return PrefixOutput(*model.generate_and_predict(chains, key, self.how, depth))
