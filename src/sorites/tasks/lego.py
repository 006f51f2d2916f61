"""LEGO sentences: predicates x_i = g_i(x_{i-1}), i = 1..L, then answers x_i = y_i, i = 0..L, the first one given."""

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key, Num, UInt32

from ..errors import require
from .actions import Action, action_named
from .alphabet import Alphabet
from .base import AbstractTask, compiled
from .chain import Chain
from .layout import MOST, Layout

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
    order = jax.lax.optimization_barrier(order)  # whole: if only parts of it are read, a CPU sorts all the names
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
    """State tracking under an action (Def. 3.1, Assumption 3.2). The action is public and its table is data: members
    with different actions share a program if their vocabularies have the same `room`. The secret is the member's own
    numbering of sentences."""

    table: Int[Array | np.ndarray, "action value"]  # padded to the vocabulary's room
    actions: Int[Array | np.ndarray, ""]
    values: Int[Array | np.ndarray, ""]
    length: int = eqx.field(static=True)  # L
    vocabulary: Vocabulary = eqx.field(static=True)

    def __init__(self, action: "Action | str | Lego", length: int, variables: int, room: Vocabulary | None = None):
        require(length >= 1, f"a sentence has one predicate or more: length={length}; use 1 or more")
        require(variables <= MOST, f"a vocabulary has at most {MOST:,} variables: variables={variables}; use fewer")
        require(
            variables >= length + 1,
            f"variables are drawn without replacement, so |X| >= L+1: variables={variables}, length={length}; "
            f"use {length + 1} variables or more",
        )
        self.length = length
        if isinstance(action, Lego):
            self.table, self.actions, self.values = action.table, action.actions, action.values
            self.vocabulary = action.vocabulary
            return
        action = action_named(action) if isinstance(action, str) else action
        words = room or Vocabulary(variables, action.actions, action.values)
        require(
            action.actions <= words.actions and action.values <= words.values and words.variables == variables,
            f"the vocabulary has room for the action: action={action.name}; enlarge it",
        )
        table = np.zeros((words.actions, words.values), np.int32)
        table[: action.actions, : action.values] = action.table
        self.table, self.vocabulary = table, words
        self.actions, self.values = np.asarray(action.actions, np.int32), np.asarray(action.values, np.int32)

    def at(self, length: int) -> "Lego":
        """The same action over sentences of another length."""
        return Lego(self, length, self.vocabulary.variables)

    @property
    def layout(self) -> Layout:
        """Inputs: the predicates and the given answer; thoughts: the other answers, each one level up."""
        return Layout(self.length + 1, tuple(range(1, self.length + 1)), SLOTS)

    @property
    def alphabet(self) -> Alphabet:
        words = self.vocabulary
        return Alphabet(words.size, signs=False, values=(words.first_value, words.first_value + words.values))

    @property
    def words(self) -> tuple[str, ...]:
        """x3 g1 x0 - - says that x3 is action 1 of x0, - - - x3 2 that its value is 2."""
        kinds = (("x", self.vocabulary.variables), ("g", self.vocabulary.actions), ("", self.vocabulary.values))
        return (*(f"{letter}{number}" for letter, count in kinds for number in range(count)), "-")

    @compiled
    def draw(self, key: Key[Array, ""]) -> UInt32[Array, " word"]:
        return jax.random.key_data(key)

    def sentences(self, keys: Key[Array, " count"]) -> Sentences:
        """One sentence per key along the first axis."""
        public = (jnp.asarray(self.table), jnp.asarray(self.actions), jnp.asarray(self.values))
        variables = self.vocabulary.variables
        return jax.vmap(lambda key: draw_sentence(key, self.length, variables, *public))(keys)

    def chains(self, sentences: Sentences) -> Chain:
        clauses = encode(sentences, self.vocabulary, self.length + 1)
        return Chain(jnp.moveaxis(clauses, 0, -1), self.layout)

    @compiled
    def sample(self, secret, key: Key[Array, ""], count: int) -> Chain:
        return self.chains(self.sentences(jax.random.split(key, count)))

    @compiled
    def numbered(self, secret, numbers, held_out: bool = False) -> Chain:
        mine = jax.random.fold_in(jax.random.wrap_key_data(secret), 3 if held_out else 1)
        return self.chains(self.sentences(jax.vmap(lambda number: jax.random.fold_in(mine, number))(numbers)))

    def children(self, secret, tokens=None) -> Int[Array, "thought child"]:
        """Answer i is computed from predicate i and answer i-1."""
        step = jnp.arange(self.length)
        return jnp.stack([step, step + self.length], axis=-1)

    def relabel(self, secret, tokens: Num[Array, "position slot *batch"]) -> Num[Array, "thought slot *batch"]:
        """Each answer from its predicate and the answer before it as that stands."""
        words, length = self.vocabulary, self.length
        moves = tokens[:length, 1] - words.first_action
        before = jnp.clip(tokens[length:-1, 4] - words.first_value, 0, words.values - 1)
        after = (jnp.asarray(self.table)[moves, before] + words.first_value).astype(tokens.dtype)
        blank = jnp.full_like(after, words.blank)
        return jnp.stack([blank, blank, blank, tokens[:length, 0], after], axis=1)


def room_for(actions: Sequence[Action], variables: int) -> Vocabulary:
    """A vocabulary large enough for all of them."""
    return Vocabulary(variables, max(a.actions for a in actions), max(a.values for a in actions))
