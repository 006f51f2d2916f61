"""Chains as text: words between spaces, a colon between inputs and thoughts.

Parity of bits 0, 2, 5 and 7 of 8 on a tree: `0 1 1 0 0 1 0 1 : 1 0 1`.
"""

import numpy as np
from jaxtyping import Int

from ..errors import SpecError, require
from .base import AbstractTask

SEPARATOR = ":"
HIDDEN = "_"  # a thought that is not shown
UNREADABLE = -1  # the number of a word that is none of the task's


def numbers_of(task: AbstractTask, text: str) -> list[int]:
    """The token number of every word."""
    known = {word: number for number, word in enumerate(task.words)}
    return [known.get(word, UNREADABLE) for word in text.replace(SEPARATOR, " ").split()]


def inputs_of_prompt(task: AbstractTask, prompt: str) -> Int[np.ndarray, "input slot"]:
    """The inputs that a prompt writes out."""
    layout, found = task.layout, numbers_of(task, prompt)
    need = layout.inputs * layout.slots
    require(len(found) == need, f"a prompt has {need} words: {len(found)} are there; is it of another size?")
    if UNREADABLE in found:
        word = prompt.replace(SEPARATOR, " ").split()[found.index(UNREADABLE)]
        raise SpecError(f"a prompt has the task's words: {word!r} is none; is it of another task?")
    return np.asarray(found, np.int32).reshape(layout.inputs, layout.slots)
