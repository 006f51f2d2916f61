"""What every model offers: it predicts all thoughts of a chain in parallel, and generates its own chains."""

import abc
import copy
import dataclasses
import itertools
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key, Num

from ..errors import SpecError
from ..fields import make_plain_fields_static
from ..tasks import Alphabet, Chain, Layout
from .prediction import AbstractPrediction

Maps = tuple[Float[Array, "head thought position batch"], ...]
Rounds = tuple[tuple[int, int], ...]


def zeros(shape: int | tuple[int, ...], dtype: Any = None) -> Array:
    """Weights before anybody draws or learns them. `jnp.zeros` would compile a program for every shape."""
    return jax.device_put(np.zeros(shape, jax.dtypes.canonicalize_dtype(float) if dtype is None else dtype))


@dataclasses.dataclass(frozen=True)
class Defaults:
    """What trains this model well, used where nothing else is given."""

    rate: float
    batch: int
    steps: int  # per stage
    every: int = 25
    optimizer: str = "adam"
    objective: str = "squared"


class AbstractModel(eqx.Module):
    """A model reads one chain and predicts its thoughts. `jax.vmap` makes the batch, `eqx.filter_vmap` the ensemble.

    Attributes:
        pretrained: whether a member starts from the weights that the model has; otherwise it calls `init`.
        defaults: a rate, a batch and steps that train it well.
        causal: whether no thought can see a later position, shown or not.
        probabilistic: whether its predictions are probabilities, which sampled thoughts need.
        sees_itself: whether a thought may read itself or a later thought; by default none does.
        unchecked: checks of `training/contracts.py` that a class switches off, each with a reason. The store keeps it.
        generates_soft: whether it has `generate_soft`, which generates a whole soft chain.
    """

    pretrained: bool = eqx.field(static=True, default=False, kw_only=True)
    defaults: ClassVar[Defaults] = Defaults(rate=0.1, batch=500, steps=200)
    causal: ClassVar[bool] = False
    probabilistic: ClassVar[bool] = True
    sees_itself: ClassVar[bool] = False
    generates_soft: ClassVar[bool] = False
    unchecked: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        make_plain_fields_static(cls)

    def refuses(self, layout: Layout, alphabet: Alphabet) -> str | None:
        """A sentence, where this model cannot read such chains."""
        return None

    def init(self, key: Key[Array, ""]) -> "AbstractModel":
        """Return the model of a new member: draw its weights, if the model starts from random ones."""
        return self

    def for_member(self, key: Key[Array, ""]) -> "AbstractModel":
        """Return the model that a member starts from: this one if it is pretrained, otherwise that of `init`."""
        return (self if self.pretrained else self.init(key)).with_weights_kept()

    def with_weights_kept(self) -> "AbstractModel":
        """Return the same model with `pretrained=True`: members start from its weights.

        Models that were trained, loaded from a store or imported are pretrained already. Use this for weights that you
        put into a new model yourself.

        Returns:
            The model, of which `init` is not called.

        Example:
            >>> import sorites as so
            >>> model = so.gpt(so.Parity(bits=8, sparsity=4))
            >>> model.pretrained, model.with_weights_kept().pretrained
            (False, True)
        """
        kept = copy.copy(self)
        object.__setattr__(kept, "pretrained", True)
        return kept

    def for_gradient(self) -> "AbstractModel":
        """Return the same model with kernels that only reverse mode can differentiate.

        The engine uses it where it takes a gradient; user code never needs it.

        Returns:
            The model itself, unless it has such kernels.
        """
        return self

    def trainable(self) -> Any:
        """A filter: which leaves learn. An array that is a choice, not a weight, is excluded here."""
        return jax.tree.map(eqx.is_inexact_array, self)

    def depth_of(self, level: int | None) -> int | None:
        """How many layers are read where the thoughts from that level on are asked for; None: all."""
        return None

    @abc.abstractmethod
    def predict(self, chain: Chain, depth: int | None = None, key: Key[Array, ""] | None = None) -> AbstractPrediction:
        """Predict every thought of one chain.

        Args:
            chain: one chain, without a batch axis. No thought may be predicted from itself or a later token.
            depth: how many layers are computed; None for all.
            key: switches dropout on.

        Returns:
            A distribution over the tokens of each thought and slot.
        """

    def predict_batch(
        self, chains: Chain, depth: int | None = None, key: Key[Array, ""] | None = None
    ) -> AbstractPrediction:
        """`predict` over a batch; a model overrides this where a batch has a faster form."""
        keys = None if key is None else jax.random.split(key, chains.tokens.shape[-1])
        axes = (-1, None if key is None else 0)
        prediction = jax.vmap(lambda chain, key: self.predict(chain, depth, key), in_axes=axes)(chains, keys)
        return prediction.batch_last()

    def rounds(self, layout: Layout) -> Rounds:
        """Ranges of thoughts that are generated at once: the levels, unless thoughts of a level read each other."""
        ends = [end - layout.inputs for end in layout.ends]
        return tuple(itertools.pairwise(ends))

    def generate(self, chains: Chain, key: Key[Array, ""], how: str) -> Num[Array, "position slot batch"]:
        """Generate the thoughts of every chain, round by round.

        Args:
            chains: a batch; only the inputs are read.
            key: for sampled thoughts.
            how: "soft", "greedy" or "sampled".

        Returns:
            The inputs, followed by the model's own thoughts.
        """
        return self._written(chains, key, how)[0]

    def generate_and_predict(
        self, chains: Chain, key: Key[Array, ""], how: str, depth: int | None = None
    ) -> tuple[Num[Array, "position slot batch"], AbstractPrediction]:
        """Generate thoughts, and predict every thought from them.

        Soft thoughts are differentiated. Greedy and sampled thoughts are constants: they are generated without a
        gradient and then predicted once with it.

        Returns:
            The tokens, as `generate` gives them, and the prediction.
        """
        if how == "soft" or self.sees_itself:
            return self._written(chains, key, how, depth)
        tokens = jax.lax.stop_gradient(self.generate(chains, key, how))
        return tokens, self.predict_batch(chains.with_tokens(tokens), depth)

    def _written(self, chains: Chain, key: Key[Array, ""], how: str, depth: int | None = None):
        layout, prediction = chains.layout, []
        tokens = chains.tokens.astype(jnp.result_type(float)) if how == "soft" else chains.tokens
        for number, (first, last) in enumerate(self.rounds(layout), start=1):
            known = None if self.causal else jnp.arange(layout.positions) < layout.inputs + first
            here = self.predict_batch(chains.with_tokens(tokens).with_shown(known), depth).of(slice(first, last))
            prediction.append(here)
            token = here.choose(how, jax.random.fold_in(key, number)).astype(tokens.dtype)
            tokens = tokens.at[layout.inputs + first : layout.inputs + last].set(token)
        return tokens, prediction[0].joined(prediction)

    def attend(self, chains: Chain) -> Maps:
        """On request: per layer the attention of every thought on every position of the chain. Rows may sum to less
        than one where a model attends to something that is no position of the chain."""
        raise SpecError(f"{type(self).__name__} shows no attention; leave out the probes that ask for it")

    @property
    def weights_count(self) -> int:
        """How many numbers it has."""
        return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(eqx.filter(self, eqx.is_inexact_array)))


def own_layout_only(model: Any, layout: Layout, alphabet: Alphabet) -> str | None:
    """The refusal of models of signs with a weight per position."""
    if not alphabet.signs or layout.slots > 1:
        return f"{type(model).__name__} reads signs, one per position: this task has {alphabet}; use a gpt or a decoder"
    if layout != model.layout:
        return f"{type(model).__name__} has a weight per position and reads its own layout only; make it from the task"
    return None


def in_chain_coordinates(layers: tuple[Float[Array, "_query _source"], ...], layout: Layout) -> Maps:
    """Attention that does not depend on the input: the rows of each layer put at the thoughts that it writes."""
    found, first = [], 0
    for layer in layers:
        first = 0 if len(layers) == 1 else first
        rows = jnp.zeros((layout.thoughts, layout.positions), layer.dtype)
        found.append(rows.at[first : first + layer.shape[0], : layer.shape[1]].set(layer)[None, :, :, None])
        first += layer.shape[0]
    return tuple(found)


def padded_signs(chain: Chain) -> Float[Array, " position *batch"]:
    """A shown sign as a float, a padded position as zero."""
    signs = chain.tokens[:, 0].astype(jnp.result_type(float))
    return signs if chain.shown is None else jnp.where(chain.shown, signs, 0)


def masked_softmax(
    weights: Float[Array, "query source"], mask: Bool[Array, "query source"]
) -> Float[Array, "query source"]:
    """Softmax over the allowed sources; a query without any gets zeros."""
    return jax.nn.softmax(weights, axis=-1, where=mask)
