"""A pupil of a course as a pytree: one step, one evaluation, and the steps between two evaluations.

A course is static and is the compile key; everything that may differ between pupils is an array. Step s of a pupil
draws the inputs numbered s*batch.., so a history does not depend on chunk length or company.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key

from ..errors import require
from ..models.gpt import GPT, Architecture
from ..models.gpt_reduced import answers
from ..probes.attention import head_entropies
from ..tasks.sequences import Secret, Sequences


@dataclasses.dataclass(frozen=True)
class Course:
    """What every pupil of an ensemble shares."""

    task: Sequences
    architecture: Architecture
    batch: int = 512
    every: int = 8  # steps between evaluations
    repeated: bool = False  # many passes over the pupil's `size` first inputs
    clip: float | None = None  # of the gradient's norm
    probed: int = 256  # held-out sequences whose attention entropy is measured; 0: none

    def __post_init__(self):
        for name in ("batch", "every"):
            require(getattr(self, name) >= 1, f"{name} counts something: {name}={getattr(self, name)}; use 1 or more")
        count = self.task.held_out
        require(self.probed <= count, f"entropy is measured on held-out sequences: {self.probed} of {count}; use fewer")


@dataclasses.dataclass(frozen=True)
class Pupil:
    """One training, up to its course."""

    seed: int
    sparsity: int
    rate: float
    steps: int  # the budget; the rate decays linearly to zero over it
    size: int = 0  # training inputs in multi-pass training
    threshold: float = 1.0  # share of held-out sequences that must be right in every target
    stops: bool = True  # once solved
    order: str = "ascending"
    secret: tuple[int, ...] | None = None

    def __post_init__(self):
        require(self.rate > 0, f"a rate is a positive number: rate={self.rate}; use one above 0")
        require(self.steps >= 1, f"a budget is at least one step: steps={self.steps}; use 1 or more")
        require(0 <= self.seed < 2**31, f"a seed is a number from 0 to 2^31 - 1: seed={self.seed}; use such a number")


class Student(eqx.Module):
    """A pupil as a pytree of arrays; the engine adds a leading axis."""

    secret: Secret
    model: GPT
    state: optax.OptState
    key: Key[Array, "*pupil"]  # of dropout
    rate: Float[Array, "*pupil"]
    steps: Int[Array, "*pupil"]
    size: Int[Array, "*pupil"]
    threshold: Float[Array, "*pupil"]
    stops: Bool[Array, "*pupil"]
    step: Int[Array, "*pupil"]
    solved_at: Int[Array, "*pupil"]
    diverged: Bool[Array, "*pupil"]

    @property
    def done(self) -> Bool[Array, "*pupil"]:
        return (self.step >= self.steps) | self.diverged | (self.stops & (self.solved_at >= 0))


def rule(course: Course) -> optax.GradientTransformation:
    """Adam without weight decay; its rate is applied by the step, for it decays."""
    parts = [optax.clip_by_global_norm(course.clip)] if course.clip else []
    return optax.chain(*parts, optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-8))


def loss_of(course: Course, model: GPT, secret: Secret, tokens, targets, key) -> Float[Array, ""]:
    """Cross-entropy, mean over sequences and taught targets. Dropout on embeddings needs the literal model."""
    if course.architecture.dropout:
        logits, _ = jax.vmap(model)(tokens, jax.random.split(key, len(tokens)))
        logits = logits[:, course.task.queries[0] :]
    else:
        logits, _ = answers(model, tokens, course.task.queries)
    return _cross_entropy(logits, targets, course.task.taught(secret))


def _cross_entropy(
    logits: Float[Array, "batch target 2"], targets: Int[Array, "batch target"], taught: Bool[Array, " target"]
) -> Float[Array, ""]:
    margin = (logits[..., 1] - logits[..., 0]).astype(jnp.float32)
    terms = jax.nn.softplus(jnp.where(targets > 0, -margin, margin)).mean(axis=0)
    return jnp.sum(jnp.where(taught, terms, 0)) / jnp.sum(taught)


def step(course: Course, student: Student) -> tuple[Student, Float[Array, ""]]:
    """One update, and the training loss before it."""
    if course.repeated:
        tokens, targets = course.task.repeated(student.secret, student.step, course.batch, student.size)
    else:
        tokens, targets = course.task.fresh(student.secret, student.step, course.batch)
    key = jax.random.fold_in(student.key, student.step) if course.architecture.dropout else student.key
    loss, gradient = eqx.filter_value_and_grad(
        lambda model: loss_of(course, model, student.secret, tokens, targets, key)
    )(student.model)
    updates, state = rule(course).update(gradient, student.state)
    rate = student.rate * jnp.maximum(1 - student.step / student.steps, 0)  # a segment may end beyond the budget
    model = jax.tree.map(lambda weight, move: (weight - rate * move).astype(weight.dtype), student.model, updates)
    moved = eqx.tree_at(lambda s: (s.model, s.state, s.step), student, (model, state, student.step + 1))
    return moved, loss


def evaluate(course: Course, student: Student) -> dict[str, Array]:
    """On held-out sequences: share with every target right, targets right, loss, and entropy of every head."""
    tokens, targets = course.task.validation(student.secret)
    logits, _ = answers(student.model, tokens, course.task.queries)
    taught = course.task.taught(student.secret)
    right = (logits[..., 1] > logits[..., 0]) == (targets > 0)
    found = {
        "accuracy": jnp.mean(jnp.all(right | ~taught[None], axis=1)),
        "targets": jnp.mean(right, where=taught[None]),
        "loss": _cross_entropy(logits, targets, taught),
    }
    if course.probed:
        everywhere = tuple(range(course.task.length))
        _, maps = answers(student.model, tokens[: course.probed], everywhere)
        found |= head_entropies(maps, course.task.queries[0], student.secret.length)
    return {name: jnp.asarray(value, jnp.float32) for name, value in found.items()}


def segment(course: Course, student: Student) -> tuple[Student, dict[str, Array]]:
    """The steps between two evaluations, and the evaluation; a student that is done stands still."""
    static = eqx.filter(student, eqx.is_array, inverse=True)

    def walk(carry, _):
        arrays, total = carry
        moved, loss = step(course, eqx.combine(arrays, static))
        return (eqx.filter(moved, eqx.is_array), total + loss), None

    def work(arrays):
        (arrays, total), _ = jax.lax.scan(walk, (arrays, jnp.zeros(())), None, length=course.every)
        moved = eqx.combine(arrays, static)
        found = evaluate(course, moved) | {"training_loss": total / course.every}
        solved = (moved.solved_at < 0) & (found["accuracy"] >= moved.threshold)
        moved = eqx.tree_at(
            lambda s: (s.solved_at, s.diverged),
            moved,
            (jnp.where(solved, moved.step, moved.solved_at), ~jnp.isfinite(found["loss"])),
        )
        return eqx.filter(moved, eqx.is_array), found

    def rest(arrays):
        shapes = eqx.filter_eval_shape(work, arrays)[1]
        return arrays, jax.tree.map(lambda leaf: jnp.full(leaf.shape, jnp.nan, leaf.dtype), shapes)

    arrays, found = jax.lax.cond(student.done, rest, work, eqx.filter(student, eqx.is_array))
    return eqx.combine(arrays, static), found
