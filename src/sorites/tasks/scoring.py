"""What an outside model wrote, judged by the task alone: right answers, the first wrong thought, process reward.

A row has the `prompt`, and what was written: `thoughts` (a list, or text), `completion` (text), `answer`, or several.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..errors import require
from .base import AbstractTask
from .text import UNREADABLE, inputs_of_prompt, numbers_of

BLOCK = 4096  # rows judged at once


class Reply(NamedTuple):
    inputs: Int[np.ndarray, "input slot"]
    thoughts: Int[np.ndarray, "thought slot"] | None  # unreadable where something else or nothing was written
    answer: list[int] | None  # words of its own


class Scored(NamedTuple):
    """Per row. The first wrong thought counts from 1 and is 0 where all are right, -1 where none was written; the
    reward is the mean over thoughts of +1 (as its own children demand) and -1, and NaN where none was written."""

    answer: Bool[np.ndarray, " row"]
    first_wrong: Int[np.ndarray, " row"]
    reward: Float[np.ndarray, " row"]


def reply_of(task: AbstractTask, row: dict[str, Any]) -> Reply:
    """What a row says; ValueError where it says nothing that can be judged."""
    require(isinstance(row.get("prompt"), str), "it has no prompt")
    inputs, written = inputs_of_prompt(task, row["prompt"]), row.get("thoughts", row.get("completion"))
    answer = None if row.get("answer") is None else numbers_of(task, str(row["answer"]))
    require(written is not None or answer is not None, "it has no thoughts, no completion and no answer")
    return Reply(inputs, None if written is None else _thoughts(task, written), answer)


def _thoughts(task: AbstractTask, written: Any) -> Int[np.ndarray, "thought slot"]:
    layout = task.layout
    if isinstance(written, list):
        each = [numbers_of(task, str(thought)) for thought in written]
    else:
        found = numbers_of(task, str(written))
        each = [found[start : start + layout.slots] for start in range(0, len(found), layout.slots)]
    thoughts = np.full((layout.thoughts, layout.slots), UNREADABLE, np.int32)
    for place, numbers in enumerate(each[: layout.thoughts]):
        if len(numbers) == layout.slots:
            thoughts[place] = numbers
    return thoughts


def true_thoughts(task: AbstractTask, secret: Any, inputs: Int[Array, "input slot batch"]) -> Array:
    """Token numbers of the true thoughts: a level more is right each time that all are computed from their children."""
    layout, alphabet = task.layout, task.alphabet
    blank = jnp.zeros((layout.thoughts, *inputs.shape[1:]), inputs.dtype)
    tokens = alphabet.tokens(jnp.concatenate([inputs, blank]))

    def step(_, tokens):
        return tokens.at[layout.inputs :].set(task.relabel(secret, tokens).astype(tokens.dtype))

    return alphabet.numbers(jax.lax.fori_loop(0, layout.depth, step, tokens))[layout.inputs :]


def score(task: AbstractTask, secret: Any, replies: Sequence[Reply]) -> Scored:
    """Every reply against the truth."""
    require(len(replies) > 0, "a score needs a reply or more: replies=0; give at least one")
    judge = eqx.filter_jit(_judged)
    blank = np.full((task.layout.thoughts, task.layout.slots), UNREADABLE, np.int32)
    parts = []
    for start in range(0, len(replies), BLOCK):
        block = list(replies[start : start + BLOCK])
        whole = block + block[:1] * (BLOCK - len(block))  # one shape, one program
        inputs = np.stack([reply.inputs for reply in whole], axis=-1)
        thoughts = np.stack([blank if reply.thoughts is None else reply.thoughts for reply in whole], axis=-1)
        found = jax.device_get(judge(task, secret, jnp.asarray(inputs), jnp.asarray(thoughts)))
        parts.append([np.asarray(each)[..., : len(block)] for each in found])
    truth, right, reward = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
    asked, written = int(task.answer(secret)), np.asarray([reply.thoughts is not None for reply in replies])
    answers = [
        right[asked, row] if reply.answer is None else _same(reply.answer, truth[asked, :, row])
        for row, reply in enumerate(replies)
    ]
    counted = np.flatnonzero(np.asarray(task.counted(secret)))
    wrong = ~right[counted]
    first = np.where(wrong.any(axis=0), wrong.argmax(axis=0) + 1, 0)
    return Scored(np.asarray(answers, bool), np.where(written, first, -1), np.where(written, reward, np.nan))


def _judged(task: AbstractTask, secret: Any, inputs: Array, thoughts: Array):
    """The truth, which thoughts equal it, and the process reward; axes thought, (slot,) batch."""
    truth, readable = true_thoughts(task, secret, inputs), jnp.all(thoughts != UNREADABLE, axis=1)
    numbers = jnp.concatenate([inputs, jnp.maximum(thoughts, 0)])
    asked = task.alphabet.numbers(task.relabel(secret, task.alphabet.tokens(numbers)))
    known = jnp.concatenate([jnp.ones_like(inputs[:, 0], bool), readable])
    children = task.children(secret)
    based = jnp.all(known[children] | (children < 0)[..., None], axis=1)  # on children that can be read
    good = jnp.all(thoughts == asked, axis=1) & readable & based
    counted = jnp.asarray(task.counted(secret))
    reward = jnp.sum(jnp.where(good, 1.0, -1.0), axis=0, where=counted[:, None]) / counted.sum()
    return truth, jnp.all(thoughts == truth, axis=1), reward


def _same(words: list[int], truth: np.ndarray) -> bool:
    """The whole answer, or of one of several slots the last."""
    return words == truth.tolist() or words == truth[-1:].tolist()
