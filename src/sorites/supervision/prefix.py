"""What the model reads before it predicts: the true thoughts, some of them padded, or its own."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key, Num

from ..errors import require
from ..models import AbstractModel, Positional
from ..tasks import Chain


class Reading(eqx.Module):
    """A batch as the model met it: the tokens it had before it, and its scores for every thought."""

    tokens: Num[Array, "position slot batch"]
    scores: Float[Array, "thought slot class batch"]


class AbstractPrefix(eqx.Module):
    """Reads a batch of true chains."""

    @abc.abstractmethod
    def __call__(self, model: AbstractModel, chains: Chain, key: Key[Array, ""], depth: int | None) -> Reading: ...


def _mask(shown) -> Array | np.ndarray:
    return shown if isinstance(shown, jax.Array) else np.asarray(shown, bool)


class Shown(AbstractPrefix):
    """True thoughts where `shown`, padding elsewhere: all shown is teacher forcing, none is no chain."""

    shown: Bool[Array | np.ndarray, " position"] = eqx.field(converter=_mask)

    def __call__(self, model, chains, key, depth):
        scores = model.read_batch(chains.with_shown(jnp.asarray(self.shown)), depth)
        return Reading(chains.tokens, scores)


class Own(AbstractPrefix):
    """The model's own thoughts, generated level by level.

    soft: the scores themselves, differentiated; greedy: the likeliest token, a constant;
    sampled: drawn from the model, a constant.
    """

    how: str = eqx.field(static=True)

    def __check_init__(self):
        require(
            self.how in ("soft", "greedy", "sampled"),
            f"own thoughts are soft, greedy or sampled: how={self.how!r}; use one of the three",
        )

    def __call__(self, model, chains, key, depth):
        if isinstance(model, Positional):
            return _rolled(model, chains, key, self.how)

        def roll(chain: Chain, key) -> tuple[Array, Array]:
            return rollout(model, chain, key, self.how, depth)

        keys = jax.random.split(key, chains.tokens.shape[-1])
        return Reading(*jax.vmap(roll, in_axes=(-1, 0), out_axes=-1)(chains, keys))


def _rolled(model: Positional, chains: Chain, key: Key[Array, ""], how: str) -> Reading:
    """A batch at once: each level reads the few positions that its mask allows."""
    layout, attention = model.layout, model.full_attention()
    tokens = chains.tokens[: layout.inputs, 0]
    tokens = tokens.astype(attention.dtype) if how == "soft" else tokens
    scores = []
    for level in range(1, layout.depth + 1):
        here = model.read_level(attention, tokens, level)
        scores.append(here)
        token = choose(here[..., None], how, jax.random.fold_in(key, level)).astype(tokens.dtype)
        tokens = jnp.concatenate([tokens, token])
    return Reading(tokens[:, None], jnp.concatenate(scores)[:, None, None])


def rollout(
    model: AbstractModel, chain: Chain, key: Key[Array, ""], how: str, depth: int | None = None
) -> tuple[Num[Array, "position slot"], Float[Array, "thought slot class"]]:
    """One chain generated over the true inputs: its tokens, and the scores that chose them."""
    layout, scores = model.layout, []
    tokens = chain.tokens.astype(jnp.result_type(float)) if how == "soft" else chain.tokens
    for level in range(1, layout.depth + 1):
        start, end = layout.ends[level - 1], layout.ends[level]
        shown = jnp.arange(layout.positions) < start
        read = model.read(model.embed(Chain(tokens, shown)), depth).scores
        here = read[start - layout.inputs : end - layout.inputs]
        scores.append(here)
        token = choose(here, how, jax.random.fold_in(key, level)).astype(tokens.dtype)
        tokens = tokens.at[start:end].set(token)
    return tokens, jnp.concatenate(scores)


def choose(scores: Float[Array, "thought slot class"], how: str, key: Key[Array, ""]) -> Num[Array, "thought slot"]:
    """Tokens for scores: signs where the score is a mean, class numbers where it is logits."""
    if scores.shape[-1] == 1:
        mean = scores[..., 0]
        if how == "soft":
            return mean
        if how == "sampled":  # strict: a token of probability zero is never drawn
            return jnp.where(mean > jax.random.uniform(key, mean.shape, minval=-1), 1, -1)
        return jnp.where(mean >= 0, 1, -1)  # sign(0) = +1 for tokens
    if how == "sampled":
        return jax.random.categorical(key, scores)
    require(how == "greedy", "soft thoughts need scores that are means: use how='greedy' or 'sampled'")
    return jnp.argmax(scores, axis=-1)
