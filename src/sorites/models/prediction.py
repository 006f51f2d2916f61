"""Predictions: a distribution over the tokens of each thought. Losses, rewards, probes and rollouts use these methods
only, so they are the same for signs, bits and classes.

Signs known by their mean (links, polynomials), signs known by their log odds (a GPT: a mean saturates in float32, and
the log-probability of the other sign becomes -inf), classes known by their logits, and these where some slots are
blank for certain. Axes: thought, slot, then the batch where there is one; logits have the batch first and the class
last.
"""

import abc
import dataclasses
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Num

from ..errors import SpecError
from ..fast import draws

Tokens = Num[Array, "thought slot *batch"]
Means = Float[Array, "thought slot *batch"]

HOWS = ("soft", "greedy", "sampled")
HELD_OUT = 32  # a fold of key 0; the folds 0 to 3 belong to the member of seed 0, 16 and 17 to exported chains
NEVER = -1e30  # the log-probability of a token that is certainly wrong


def first_largest(values: Num[Array, "*rest choice"]) -> Int[Array, " *rest"]:
    """`jnp.argmax` over the last axis; where there is a NaN, 0. A CPU takes a seventh of the time for it."""
    places = jnp.arange(values.shape[-1])
    return jnp.min(jnp.where(values < jnp.max(values, axis=-1, keepdims=True), places[-1], places), axis=-1)


def held_out_key(number: int = 0) -> Key[Array, ""]:
    """Return a key that is the same at every evaluation and belongs to no member.

    Number 0 is for a model's own thoughts, 1 for chains of another task.
    """
    return jax.random.fold_in(jax.random.key(0), HELD_OUT + number)


class AbstractPrediction(eqx.Module):
    """A distribution over the tokens of each thought and slot."""

    @abc.abstractmethod
    def log_prob(self, tokens: Tokens) -> Means: ...

    @abc.abstractmethod
    def greedy(self) -> Tokens:
        """The likeliest tokens; sign(0) = +1."""

    @abc.abstractmethod
    def sample(self, key: Key[Array, ""]) -> Tokens: ...

    @abc.abstractmethod
    def mean(self) -> Float[Array, "thought slot *rest"]:
        """Signs: in [-1, 1]. Classes: probabilities."""

    @abc.abstractmethod
    def entropy(self) -> Means:
        """Of each token, in nats."""

    @abc.abstractmethod
    def kl(self, other: "AbstractPrediction") -> Means:
        """Return the Kullback-Leibler divergence KL(self || other) of each token, in nats.

        Args:
            other: a prediction of the same thoughts, over the same alphabet.

        Returns:
            [thought, slot, batch]; infinite where `other` excludes a token that `self` allows.
        """

    @abc.abstractmethod
    def agreement(self, tokens: Tokens, labels: Tokens) -> Means:
        """The reward of these tokens: +1 right, -1 wrong."""

    @abc.abstractmethod
    def expected(self, labels: Tokens) -> Means:
        """The mean of `agreement` over the token: label * mean, or 2 p(label) - 1."""

    @abc.abstractmethod
    def error(self, labels: Tokens) -> Means:
        """Half the squared distance of `mean` from the label."""

    @abc.abstractmethod
    def right(self, labels: Tokens) -> Bool[Array, "thought slot *batch"]:
        """Whether the label is the likeliest token. Of signs a tie is wrong; of classes the first of the likeliest
        counts."""

    def _not_comparable(self, other: "AbstractPrediction") -> SpecError:
        names = type(self).__name__, type(other).__name__
        return SpecError(f"got {names[0]}.kl of a {names[1]}; allowed is a prediction over the same alphabet")

    def distance(self, labels: Tokens) -> Means:
        """How far the mean agreement is from certainty, from 0 to 2."""
        return 1 - self.expected(labels)

    def soft(self) -> Tokens:
        """Thoughts that are means, not tokens."""
        raise SpecError(f"soft thoughts need signs: {type(self).__name__}; use greedy or sampled thoughts")

    def choose(self, how: str, key: Key[Array, ""]) -> Tokens:
        """Tokens of one kind: soft, greedy or sampled."""
        return {"soft": self.soft, "greedy": self.greedy, "sampled": lambda: self.sample(key)}[how]()

    def of(self, thoughts: slice) -> "AbstractPrediction":
        """Only about some thoughts."""
        return jax.tree.map(lambda leaf: leaf[thoughts], self)

    @staticmethod
    def joined(parts: "Sequence[AbstractPrediction]") -> "AbstractPrediction":
        """Concatenate predictions along the thoughts."""
        return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)

    def batch_last(self) -> "AbstractPrediction":
        """From a leading batch axis, as `jax.vmap` leaves it, to this form's own place for it."""
        return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, -1), self)


class AbstractSignPrediction(AbstractPrediction):
    """What both forms of signs share."""

    def greedy(self):
        return jnp.where(self.mean() >= 0, 1, -1)

    def sample(self, key):  # strict: a token of probability zero is never drawn
        mean = self.mean()
        return jnp.where(mean > draws.uniform(key, mean.shape, -1.0), 1, -1)

    def agreement(self, tokens, labels):
        return (labels * tokens).astype(self.mean().dtype)

    def expected(self, labels):
        return labels * self.mean()

    def error(self, labels):
        return 0.5 * (self.mean() - labels) ** 2

    def right(self, labels):
        return self.mean() * labels > 0

    def distance(self, labels):
        return jnp.abs(self.mean() - labels)

    def soft(self):
        return self.mean()


class SignMeans(AbstractSignPrediction):
    """Signs by their means."""

    means: Means

    def mean(self):
        return self.means

    def log_prob(self, tokens):
        return jnp.log((1 + tokens * self.means) / 2)

    def entropy(self):
        plus = jnp.clip((1 + self.means) / 2, 0, 1)
        return -jax.scipy.special.xlogy(plus, plus) - jax.scipy.special.xlogy(1 - plus, 1 - plus)

    def kl(self, other):
        if not isinstance(other, AbstractSignPrediction):
            raise self._not_comparable(other)
        own, theirs = jnp.clip((1 + self.means) / 2, 0, 1), jnp.clip((1 + other.mean()) / 2, 0, 1)
        return jax.scipy.special.kl_div(own, theirs) + jax.scipy.special.kl_div(1 - own, 1 - theirs)


class SignLogits(AbstractSignPrediction):
    """Signs by their log odds, log p(+1) - log p(-1)."""

    margin: Means

    def mean(self):
        return jnp.tanh(self.margin / 2)

    def greedy(self):
        return jnp.where(self.margin >= 0, 1, -1)

    def right(self, labels):
        return self.margin * labels > 0

    def log_prob(self, tokens):
        return -jax.nn.softplus(jnp.where(tokens > 0, -self.margin, self.margin))

    def entropy(self):
        plus = jax.nn.sigmoid(self.margin)
        return plus * jax.nn.softplus(-self.margin) + (1 - plus) * jax.nn.softplus(self.margin)

    def kl(self, other):
        if not isinstance(other, AbstractSignPrediction):
            raise self._not_comparable(other)
        theirs = other.margin if isinstance(other, SignLogits) else 2 * jnp.arctanh(other.mean())
        plus = jax.nn.sigmoid(self.margin)
        up = jax.nn.log_sigmoid(self.margin) - jax.nn.log_sigmoid(theirs)
        return plus * up + (1 - plus) * (jax.nn.log_sigmoid(-self.margin) - jax.nn.log_sigmoid(-theirs))


class ClassLogits(AbstractPrediction):
    """Classes by their logits. The batch comes first here: tokens move to the logits, which are many times larger."""

    logits: Float[Array, "*batch thought slot class"]

    def _moved(self, tokens: Array) -> Array:
        """Batch last to batch first."""
        return jnp.moveaxis(tokens, -1, 0) if self.logits.ndim > 3 else tokens

    def _back(self, values: Array) -> Array:
        return jnp.moveaxis(values, 0, -1) if self.logits.ndim > 3 else values

    def _at(self, values: Array, tokens: Tokens) -> Array:
        chosen = self._moved(tokens)[..., None].astype(int)
        return jnp.take_along_axis(values, chosen, axis=-1)[..., 0]

    def of(self, thoughts):
        return ClassLogits(self.logits[..., thoughts, :, :])

    @staticmethod
    def joined(parts):
        return ClassLogits(jnp.concatenate([part.logits for part in parts], axis=-3))  # pyright: ignore

    def batch_last(self):
        return self

    def log_prob(self, tokens):
        return self._back(self._at(self.logits, tokens) - jax.nn.logsumexp(self.logits, axis=-1))

    def greedy(self):
        return self._back(first_largest(self.logits))

    def sample(self, key):
        return self._back(jax.random.categorical(key, self.logits, axis=-1))

    def mean(self):
        """Probabilities, batch first and class last."""
        return jax.nn.softmax(self.logits, axis=-1)

    def entropy(self):
        logs = jax.nn.log_softmax(self.logits, axis=-1)
        return self._back(-jnp.sum(jnp.exp(logs) * jnp.where(logs > -1e9, logs, 0), axis=-1))

    def kl(self, other):
        if not isinstance(other, ClassLogits):
            raise self._not_comparable(other)
        own, theirs = jax.nn.log_softmax(self.logits, axis=-1), jax.nn.log_softmax(other.logits, axis=-1)
        return self._back(jnp.sum(jnp.exp(own) * (own - theirs), axis=-1))

    def agreement(self, tokens, labels):
        return jnp.where(tokens == labels, 1.0, -1.0)

    def expected(self, labels):
        return 2 * jnp.exp(self.log_prob(labels)) - 1

    def error(self, labels):
        probability = self.mean()
        return self._back(0.5 * (jnp.sum(probability**2, axis=-1) - 2 * self._at(probability, labels) + 1))

    def right(self, labels):
        return self.greedy() == labels


class SlotLogits(AbstractPrediction):
    """Classes of the slots that are spoken; the others hold the blank for certain, and nothing is computed for them."""

    prediction: ClassLogits
    slots: tuple[int, ...] = eqx.field(static=True)  # that are spoken
    count: int = eqx.field(static=True)  # of all slots
    blank: int = eqx.field(static=True)

    def _filled(self, found: Array, silent: Callable[[int], Array], axis: int = 1) -> Array:
        """What was found for the spoken slots in their places, and what holds for the silent ones."""

        def at(slot: int) -> Array:
            if slot in self.slots:
                return jax.lax.index_in_dim(found, self.slots.index(slot), axis, keepdims=False)
            return silent(slot).astype(found.dtype)

        return jnp.stack([at(slot) for slot in range(self.count)], axis=axis)

    def _known(self, found: Array, tokens: Tokens, otherwise: float) -> Array:
        """0 where a silent slot's token is the blank."""
        return self._filled(found, lambda slot: jnp.where(tokens[:, slot] == self.blank, 0.0, otherwise))

    def _spoken(self, tokens: Tokens) -> Array:
        return jnp.stack([tokens[:, slot] for slot in self.slots], axis=1)

    def _blanks(self, found: Array) -> Array:
        return self._filled(found, lambda _: jnp.full_like(found[:, 0], self.blank))

    def of(self, thoughts):
        return dataclasses.replace(self, prediction=self.prediction.of(thoughts))

    @staticmethod
    def joined(parts):
        return dataclasses.replace(parts[0], prediction=ClassLogits.joined([part.prediction for part in parts]))  # pyright: ignore

    def batch_last(self):
        return self

    def log_prob(self, tokens):
        return self._known(self.prediction.log_prob(self._spoken(tokens)), tokens, NEVER)

    def greedy(self):
        return self._blanks(self.prediction.greedy())

    def sample(self, key):
        return self._blanks(self.prediction.sample(key))

    def mean(self):
        """Probabilities, batch first and class last."""
        found = self.prediction.mean()
        certain = jnp.zeros_like(found[..., 0, :]).at[..., self.blank].set(1)
        return self._filled(found, lambda _: certain, axis=-2)

    def entropy(self):
        found = self.prediction.entropy()
        return self._filled(found, lambda _: jnp.zeros_like(found[:, 0]))

    def kl(self, other):
        if not isinstance(other, SlotLogits):
            raise self._not_comparable(other)
        found = self.prediction.kl(other.prediction)
        return self._filled(found, lambda _: jnp.zeros_like(found[:, 0]))

    def agreement(self, tokens, labels):
        return self.prediction.agreement(tokens, labels)

    def expected(self, labels):
        return 2 * jnp.exp(self.log_prob(labels)) - 1

    def error(self, labels):
        return self._known(self.prediction.error(self._spoken(labels)), labels, 1.0)

    def right(self, labels):
        return self.greedy() == labels
