"""What every model offers: it reads chains and says something about all thoughts in parallel; it writes chains of its
own."""

import abc
import dataclasses
import itertools
import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key, Num

from ..errors import SpecError
from ..tasks import Alphabet, Chain, Layout
from .said import AbstractSaid

Maps = tuple[Float[Array, "head thought position batch"], ...]
Rounds = tuple[tuple[int, int], ...]


def zeros(shape: int | tuple[int, ...], dtype: Any = None) -> Array:
    """Weights before anybody draws or learns them. `jnp.zeros` would compile a program for every shape."""
    return jax.device_put(np.zeros(shape, jax.dtypes.canonicalize_dtype(float) if dtype is None else dtype))


@dataclasses.dataclass(frozen=True)
class Defaults:
    """What trains this model well where nobody says otherwise."""

    rate: float
    batch: int
    steps: int  # per stage
    every: int = 25
    rule: str = "adam"
    signal: str = "squared"


class AbstractModel(eqx.Module):
    """A model reads one chain and predicts its thoughts. `jax.vmap` makes the batch, `eqx.filter_vmap` the ensemble.

    Attributes:
        defaults: a rate, a batch and steps that train it well.
        causal: whether no thought can see a later position, shown or not.
        chances: whether its predictions are probabilities, which sampled thoughts need.
        sees_itself: whether a thought may read itself or a later thought; by default none does.
        writes_soft: whether it has `write_soft`, which writes a whole soft chain.
    """

    defaults: ClassVar[Defaults] = Defaults(rate=0.1, batch=500, steps=200)
    causal: ClassVar[bool] = False
    chances: ClassVar[bool] = True
    sees_itself: ClassVar[bool] = False
    writes_soft: ClassVar[bool] = False

    def refuses(self, layout: Layout, alphabet: Alphabet) -> str | None:
        """A sentence, where this model cannot read such chains."""
        return None

    def fresh(self, key: Key[Array, ""]) -> "AbstractModel":
        """The model of a new member; models that start from drawn weights draw them here."""
        return self

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
    def read(self, chain: Chain, depth: int | None = None, key: Key[Array, ""] | None = None) -> AbstractSaid:
        """What it says about every thought of one chain; `depth` limits how many layers are computed (None: all), a key
        switches dropout on."""

    def read_batch(self, chains: Chain, depth: int | None = None, key: Key[Array, ""] | None = None) -> AbstractSaid:
        """The same over a batch; a model overrides this where a batch has a faster form."""
        keys = None if key is None else jax.random.split(key, chains.tokens.shape[-1])
        axes = (-1, None if key is None else 0)
        said = jax.vmap(lambda chain, key: self.read(chain, depth, key), in_axes=axes)(chains, keys)
        return said.batch_last()

    def rounds(self, layout: Layout) -> Rounds:
        """Ranges of thoughts that are written at once: the levels, unless thoughts of a level read each other."""
        ends = [end - layout.inputs for end in layout.ends]
        return tuple(itertools.pairwise(ends))

    def write(self, chains: Chain, key: Key[Array, ""], how: str) -> Num[Array, "position slot batch"]:
        """The inputs with thoughts of the model's own, round by round; here by reading again in every round."""
        return self._written(chains, key, how)[0]

    def own(
        self, chains: Chain, key: Key[Array, ""], how: str, depth: int | None = None
    ) -> tuple[Num[Array, "position slot batch"], AbstractSaid]:
        """Its own tokens, and what it says while it has them before it. Soft thoughts are differentiated; others are
        written without a gradient and read once with it: no thought reads itself or a later one."""
        if how == "soft" or self.sees_itself:
            return self._written(chains, key, how, depth)
        tokens = jax.lax.stop_gradient(self.write(chains, key, how))
        return tokens, self.read_batch(chains.with_tokens(tokens), depth)

    def _written(self, chains: Chain, key: Key[Array, ""], how: str, depth: int | None = None):
        layout, said = chains.layout, []
        tokens = chains.tokens.astype(jnp.result_type(float)) if how == "soft" else chains.tokens
        for number, (first, last) in enumerate(self.rounds(layout), start=1):
            known = None if self.causal else jnp.arange(layout.positions) < layout.inputs + first
            here = self.read_batch(chains.with_tokens(tokens).with_shown(known), depth).of(slice(first, last))
            said.append(here)
            token = here.choose(how, jax.random.fold_in(key, number)).astype(tokens.dtype)
            tokens = tokens.at[layout.inputs + first : layout.inputs + last].set(token)
        return tokens, said[0].joined(said)

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
