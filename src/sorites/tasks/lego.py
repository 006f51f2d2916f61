"""LEGO sentences: predicates x_i = g_i(x_{i-1}), i = 1..L, then answers x_i = y_i, i = 0..L, the first one given."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key, Num

from ..errors import require
from .actions import Action, action_named
from .base import AbstractTask
from .chain import Chain
from .layout import Layout

SLOTS = 5  # (x_i, g_i, x_{i-1}, -, -) or (-, -, -, x_i, y_i)


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Token numbers: variables, then actions, then values, then the blank."""

    variables: int
    actions: int
    values: int

    @property
    def size(self) -> int:  # d
        return self.variables + self.actions + self.values + 1

    @property
    def first_action(self) -> int:
        return self.variables

    @property
    def first_value(self) -> int:
        return self.variables + self.actions

    @property
    def blank(self) -> int:
        return self.size - 1


class Sentences(eqx.Module):
    variables: Int[Array, "*batch chain"]  # x_0..x_L, all different
    actions: Int[Array, "*batch length"]  # g_1..g_L
    values: Int[Array, "*batch chain"]  # y_0..y_L

    @property
    def length(self) -> int:
        return self.actions.shape[-1]


def chained(
    table: Int[Array, "action value"], actions: Int[Array, "*batch length"], start: Int[Array, "*batch"]
) -> Int[Array, "*batch chain"]:
    """y_0..y_L from y_i = g_i(y_{i-1})."""

    def apply(value, action):
        value = table[action, value]
        return value, value

    start = start.astype(table.dtype)
    _, rest = jax.lax.scan(apply, start, jnp.moveaxis(actions, -1, 0))
    return jnp.concatenate([start[..., None], jnp.moveaxis(rest, 0, -1)], axis=-1)


def draw_sentence(
    key: Key[Array, ""],
    length: int,
    variables: int,
    table: Int[Array, "action value"],
    actions: Int[Array, ""],
    values: Int[Array, ""],
) -> Sentences:
    """One sentence of D^L; only the first `actions` rows and `values` columns of the table are used."""
    names, moves, start = jax.random.split(key, 3)
    order = jax.lax.top_k(jax.random.uniform(names, (variables,)), length + 1)[1]  # without replacement
    taken = jax.random.randint(moves, (length,), 0, actions)
    return Sentences(order, taken, chained(table, taken, jax.random.randint(start, (), 0, values)))


def encode(sentences: Sentences, vocabulary: Vocabulary, answers: int) -> Int[Array, "*batch clause slot"]:
    """The L predicates and the answers 0..`answers`-1, five tokens each."""
    blank = jnp.full_like(sentences.actions, vocabulary.blank)
    predicates = (
        sentences.variables[..., 1:],
        sentences.actions + vocabulary.first_action,
        sentences.variables[..., :-1],
        blank,
        blank,
    )
    empty = jnp.full_like(sentences.values[..., :answers], vocabulary.blank)
    known = (sentences.variables[..., :answers], sentences.values[..., :answers] + vocabulary.first_value)
    return jnp.concatenate([jnp.stack(predicates, -1), jnp.stack((empty, empty, empty, *known), -1)], axis=-2)


class Lego(AbstractTask):
    """State tracking under an action (Def. 3.1, Assumption 3.2). The secret is empty: the action is public."""

    action: Action = eqx.field(static=True)
    length: int = eqx.field(static=True)  # L
    variables: int = eqx.field(static=True)  # |X|

    def __init__(self, action: Action | str, length: int, variables: int):
        self.action = action_named(action) if isinstance(action, str) else action
        self.length, self.variables = length, variables
        require(length >= 1, f"a sentence has one predicate or more: length={length}; use 1 or more")
        require(
            variables >= length + 1,
            f"variables are drawn without replacement, so |X| >= L+1: variables={variables}, length={length}; "
            f"use {length + 1} variables or more",
        )

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.variables, self.action.actions, self.action.values)

    @property
    def layout(self) -> Layout:
        """Inputs: the predicates and the given answer; thoughts: the other answers, each one level up."""
        return Layout(self.length + 1, tuple(range(1, self.length + 1)), SLOTS, self.vocabulary.size)

    def draw(self, key: Key[Array, ""]) -> tuple[()]:
        return ()

    def sentences(self, key: Key[Array, ""], count: int) -> Sentences:
        """`count` sentences along the first axis."""
        action = self.action
        public = (jnp.asarray(action.table, jnp.int32), jnp.asarray(action.actions), jnp.asarray(action.values))
        keys = jax.random.split(key, count)
        return jax.vmap(lambda key: draw_sentence(key, self.length, self.variables, *public))(keys)

    def sample(self, secret: tuple[()], key: Key[Array, ""], count: int) -> Chain:
        clauses = encode(self.sentences(key, count), self.vocabulary, self.length + 1)
        tokens = jnp.moveaxis(clauses, 0, -1)
        return Chain(tokens, jnp.ones((tokens.shape[0], count), bool))

    def children(self, secret: tuple[()]) -> Int[Array, "thought child"]:
        """Answer i is computed from predicate i and answer i-1."""
        step = jnp.arange(self.length)
        return jnp.stack([step, step + self.length], axis=-1)

    def relabel(
        self, secret: tuple[()], tokens: Num[Array, "position slot *batch"]
    ) -> Num[Array, "thought slot *batch"]:
        """Each answer from its predicate and the answer before it as that stands."""
        words, length = self.vocabulary, self.length
        moves = tokens[:length, 1] - words.first_action
        before = jnp.clip(tokens[length:-1, 4] - words.first_value, 0, words.values - 1)
        after = jnp.asarray(self.action.table)[moves, before] + words.first_value
        blank = jnp.full_like(after, words.blank)
        return jnp.stack([blank, blank, blank, tokens[:length, 0], after], axis=1)
