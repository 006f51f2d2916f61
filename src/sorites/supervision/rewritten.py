"""Self-training: the chains of another source with the thoughts that a frozen earlier self writes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ..errors import SpecError, require
from ..fields import numbers_if_any, require_kind
from ..models import AbstractModel
from ..models.prediction import HOWS
from ..tasks import AbstractTask, Chain
from .sources import AbstractSource
from .supervision import FLIPS

WRITE = 1_000_039  # folds the key of a teacher's tokens out of that of the batch


class Rewritten(AbstractSource):
    """Prefix and labels at once are the teacher's: a stage with `freeze` has one. A pool is
    rewritten as a whole.

    noise: chance that a self-made token is another one. confidence: chains with a token that the teacher gave less
    probability than this are left out.
    """

    source: AbstractSource
    how: str = eqx.field(static=True, default="greedy")
    noise: Float[Array | np.ndarray, ""] | None = eqx.field(converter=numbers_if_any, default=None)
    confidence: Float[Array | np.ndarray, ""] | None = eqx.field(converter=numbers_if_any, default=None)

    def __check_init__(self):
        require_kind("source", self.source, AbstractSource, "Sampled(64)")
        require(self.how in HOWS[1:], f"a teacher writes greedy or sampled thoughts: how={self.how!r}; use one")

    @property
    def samples(self) -> int:
        return self.source.samples

    def rewrite(self, chains: Chain, task: AbstractTask, teacher: AbstractModel | None, key: Key[Array, ""]) -> Chain:
        if teacher is None:
            raise SpecError("self-training has a teacher: none was frozen; give the stage freeze=True")
        write, flip = jax.random.fold_in(key, WRITE), jax.random.fold_in(key, FLIPS)
        tokens, inputs = teacher.generate(chains, write, self.how), chains.layout.inputs
        own = chains.with_tokens(tokens)
        if self.confidence is not None:
            surest = jnp.min(teacher.predict_batch(own).log_prob(tokens[inputs:]), axis=(0, 1))
            own = eqx.tree_at(lambda chain: chain.weight, own, (surest >= jnp.log(self.confidence)).astype(jnp.float32),
                              is_leaf=lambda leaf: leaf is None)  # fmt: skip
        if self.noise is not None:
            thoughts = task.alphabet.corrupt(tokens[inputs:], flip, jnp.asarray(self.noise))
            own = eqx.tree_at(lambda chain: chain.tokens, own, tokens.at[inputs:].set(thoughts))
        return own

    def prepare(self, task, secret, key, teacher):
        make, write = jax.random.split(key)
        pool = self.source.prepare(task, secret, make, teacher)
        return self.rewrite(pool, task, teacher, write) if isinstance(pool, Chain) else pool

    def chains(self, task, draw, key):
        make, write = jax.random.split(key)
        chains = self.source.chains(task, draw, make)
        return chains if isinstance(draw.pool, Chain) else self.rewrite(chains, task, draw.teacher, write)
