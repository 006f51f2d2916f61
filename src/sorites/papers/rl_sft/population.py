"""Sign updates on population gradients until the chain is exact: the counts behind the paper's summary of dynamics."""

import dataclasses

import numpy as np

from ...supervision import AbstractObjective, Hinge, Supervision, self_generated, teacher_forcing
from ...tasks import Boolean
from .exact import level_accuracy, loss_gradient, pretrained, reward_gradient, secret_of, stepped


def whole(taught: Supervision) -> Supervision:
    """Weight 1 per thought: 1/(k-1) is divided out in float64, not rounded to float32."""
    return dataclasses.replace(taught, where=np.ones_like(taught.where))


def own(task: Boolean, loss: AbstractObjective | None = None) -> Supervision:
    """SFT on own greedy thoughts."""
    return whole(self_generated(task.layout, loss or Hinge()))


def forced(task: Boolean, loss: AbstractObjective | None = None) -> Supervision:
    """SFT on true thoughts."""
    return whole(teacher_forcing(task.layout, loss or Hinge()))


def direction(task: Boolean, model, teaching: str, update: int = 1) -> np.ndarray:
    """The way up at the given update of a way of teaching."""
    secret, last = secret_of(task), np.eye(task.layout.thoughts)[-1]
    if teaching == "outcome":
        return np.asarray(reward_gradient(model, task, secret, "truth", 1.0, last))
    if teaching in ("rl", "rl-truth"):
        return np.asarray(reward_gradient(model, task, secret, "truth" if teaching == "rl-truth" else "prefix"))
    found = np.asarray(loss_gradient(model, task, secret, forced(task) if teaching == "forced" else own(task))[0])
    if teaching == "filtered":
        return np.where(np.arange(len(found))[:, None] == (update - 1) % len(found), found, 0)
    return found


def accuracies(task: Boolean, teaching: str, rate: float, limit: int) -> np.ndarray:
    """Share of right tokens by level over every input, before and after each update; ends when all are right."""
    secret, model = secret_of(task), pretrained(task)
    found = [np.asarray(level_accuracy(model, task, secret))]
    for update in range(1, limit + 1):
        if (found[-1] == 1).all():
            break
        model = stepped(model, direction(task, model, teaching, update), rate)
        found.append(np.asarray(level_accuracy(model, task, secret)))
    return np.array(found)


def updates(task: Boolean, teaching: str, rate: float, limit: int) -> int | None:
    """Updates until every thought is right for every input; None if that takes more than `limit`."""
    found = accuracies(task, teaching, rate, limit)
    return len(found) - 1 if (found[-1] == 1).all() else None


def mixed_updates(task: Boolean, forcing: float | None, rate: float, limit: int) -> int | None:
    """The same for SFT whose loss is `forcing` teacher forcing and the rest own thoughts; None stands for RL."""
    if forcing is None:
        return updates(task, "rl", rate, limit)
    secret, model = secret_of(task), pretrained(task)
    for update in range(1, limit + 1):
        own_way, true_way = (direction(task, model, way) for way in ("own", "forced"))
        model = stepped(model, (1 - forcing) * own_way + forcing * true_way, rate)
        if (np.asarray(level_accuracy(model, task, secret)) == 1).all():
            return update
    return None
