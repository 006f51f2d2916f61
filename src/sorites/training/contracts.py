"""What a task and a model promise, tested on a few chains before anything else is compiled.

The tests of the library check its own tasks and models. Those of users are checked before their first training, once
for each structure.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..errors import SpecError, require
from ..fast import compiler
from ..models import AbstractModel
from ..tasks import AbstractTask, Chain
from .structure import cached_by_structure

CHAINS = 4  # of the check of a task
FLIPS = 12  # most tokens that are changed in the check of a model
NOISE = 0.3  # on every weight, so that weights which start at zero hide no dependence
CLOSE = 1e-4  # rounding; predictions are compared on a scale from -1 to 1
CONTRACTS = {AbstractTask: ("tokens", "relabel", "children"), AbstractModel: ("causal",)}


def check_contracts(model: AbstractModel, task: AbstractTask, all_classes: bool = False) -> None:
    """Test what a task and a model promise.

    - Tokens are in the task's alphabet. `relabel` returns the thoughts of sampled chains. Children are earlier
      positions.
    - No prediction depends on a hidden token, or on a token that is generated in the same round or later.

    Args:
        model: reads the task's chains.
        task: makes them.
        all_classes: test tasks and models of sorites too.

    Raises:
        SpecError: names the promise that is broken. A class can switch a check off with the reason:
            `unchecked = {"causal": "reads its own token to copy it"}`.
    """
    skipped = unchecked(model, task)
    if all_classes or not _is_ours(task):
        _check_task(task, tuple(sorted(skipped)))
    ours = not all_classes and _is_ours(model) and _is_ours(task)
    if not ours and "causal" not in skipped and not model.sees_itself:
        _check_model(model, task)


def unchecked(*things: AbstractModel | AbstractTask) -> dict[str, str]:
    """Return the checks that these tasks and models switch off, and why."""
    found: dict[str, str] = {}
    for thing in things:
        known = CONTRACTS[AbstractTask if isinstance(thing, AbstractTask) else AbstractModel]
        for name, reason in thing.unchecked.items():
            require(
                name in known and isinstance(reason, str) and bool(reason),
                f"got unchecked={{{name!r}: {reason!r}}} in {type(thing).__name__}; allowed are {', '.join(known)}, "
                "each with a reason as text",
            )
            found[name] = reason
    return found


def _is_ours(thing: Any) -> bool:
    """Whether all classes and functions in it are from sorites."""
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = (getattr(thing, field.name) for field in dataclasses.fields(thing))
        return type(thing).__module__.startswith("sorites.") and all(map(_is_ours, fields))
    if isinstance(thing, list | tuple):
        return all(map(_is_ours, thing))
    if callable(thing) and not isinstance(thing, jax.Array):
        return str(getattr(thing, "__module__", "")).startswith("sorites.")
    return True


@cached_by_structure
def _check_task(task: AbstractTask, skipped: tuple[str, ...]) -> None:
    name, layout = type(task).__name__, task.layout

    def made(task: AbstractTask) -> tuple[Array, Array, Array, Array]:
        secret = task.draw(jax.random.key(0))
        tokens = task.sample(secret, jax.random.key(1), CHAINS).tokens
        exists = jnp.broadcast_to(
            jnp.asarray(task.counted(secret, tokens)).reshape(layout.thoughts, -1), (layout.thoughts, CHAINS)
        )
        children = task.children(secret, tokens)
        children = jnp.broadcast_to(children.reshape(*children.shape[:2], -1), (*children.shape[:2], CHAINS))
        return tokens, task.relabel(secret, tokens), exists, children

    tokens, labels, exists, children = map(np.asarray, compiler.compiled(made, fast_compile=True)(task))
    if "tokens" not in skipped:
        allowed = np.isin(tokens, (-1, 1)) if task.alphabet.signs else (tokens >= 0) & (tokens < task.alphabet.vocab)
        wrong = tokens[~allowed]
        require(
            not wrong.size,
            f"got the token {wrong[:1].tolist()} in {name}.sample; allowed are {task.alphabet}; change sample or "
            "alphabet",
        )
    if "relabel" not in skipped:
        truth = tokens[layout.inputs :]
        for thought, row in np.argwhere((labels != truth).any(axis=1) & exists):
            raise SpecError(
                f"{name}.relabel gives {labels[thought, :, row].tolist()} for thought {thought} of a sampled chain, "
                f"{name}.sample gave {truth[thought, :, row].tolist()}; on true tokens relabel must return the true "
                "thoughts"
            )
    if "children" not in skipped:
        own = layout.inputs + np.arange(layout.thoughts)[:, None, None]
        for thought, which, row in np.argwhere(((children < -1) | (children >= own)) & exists[:, None]):
            raise SpecError(
                f"{name}.children gives position {children[thought, which, row]} for thought {thought}, at position "
                f"{layout.inputs + thought}; allowed are earlier positions, and -1 for no child"
            )


@cached_by_structure
def _check_model(model: AbstractModel, task: AbstractTask) -> None:
    """Change tokens one at a time, and see which predictions change."""
    layout = task.layout
    changes = np.linspace(0, layout.thoughts * layout.slots - 1, min(FLIPS, layout.thoughts * layout.slots)).astype(int)
    rounds = np.zeros(layout.thoughts, int)  # of each thought
    for first, last in model.rounds(layout):
        rounds[first:last] = first
    hidden = np.arange(layout.positions) >= layout.inputs
    partly = hidden & (np.arange(layout.positions) % 2 == 0)

    def predicted(model: AbstractModel, task: AbstractTask) -> list[Float[Array, "thought slot row"]]:
        """Row 0 has the true tokens, every other row one change. With all tokens shown, some hidden, all hidden."""
        chains = task.sample(task.draw(jax.random.key(0)), jax.random.key(1), 1)
        tokens = jnp.repeat(chains.tokens, len(changes) + 1, axis=-1)
        for row, (thought, slot) in enumerate(zip(*divmod(changes, layout.slots), strict=True), start=1):
            tokens = tokens.at[layout.inputs + thought, slot, row].set(
                _another(task, tokens[layout.inputs + thought, slot, row])
            )
        labels = jnp.broadcast_to(chains.tokens[layout.inputs :], tokens[layout.inputs :].shape)
        model = _with_noise(model.for_member(jax.random.key(2)))
        shown = ~np.repeat(np.stack([partly, hidden], axis=1), len(changes) + 1, axis=1)
        twice = Chain(jnp.concatenate([tokens, tokens], axis=-1), layout, jnp.asarray(shown))
        both = model.predict_batch(twice).expected(jnp.concatenate([labels, labels], axis=-1))
        some, none = both[..., : len(changes) + 1], both[..., len(changes) + 1 :]
        return [model.predict_batch(Chain(tokens, layout)).expected(labels), some, none]

    found = compiler.compiled(predicted, fast_compile=True)(model, task)
    for values, mask in zip(map(np.asarray, found), (np.zeros_like(hidden), partly, hidden), strict=True):
        for row, (thought, slot) in enumerate(zip(*divmod(changes, layout.slots), strict=True), start=1):
            moved = np.abs(values[..., row] - values[..., 0]) > CLOSE
            position = layout.inputs + thought
            if not mask[position]:  # later rounds may depend on it, and later slots of the same thought
                moved[rounds > rounds[thought]] = False
                moved[thought, slot + 1 :] = False
            reason = "hidden" if mask[position] else "generated in the same round or later"
            for wrong in np.flatnonzero(moved.any(axis=1)):
                raise SpecError(
                    f"{type(model).__name__} predicts thought {wrong}, at position {layout.inputs + wrong}, from the "
                    f"token at position {position}, which is {reason}; mask that token out in predict and predict_batch"
                )


def _another(task: AbstractTask, token: Int[Array, ""]) -> Int[Array, ""]:
    return -token if task.alphabet.signs else ((token + 1) % task.alphabet.vocab).astype(token.dtype)


def _with_noise(model: AbstractModel) -> AbstractModel:
    weights, rest = eqx.partition(model, model.trainable())
    leaves, structure = jax.tree.flatten(weights)
    keys = jax.random.split(jax.random.key(3), max(len(leaves), 1))
    noisy = [
        leaf + NOISE * jax.random.normal(key, leaf.shape).astype(leaf.dtype)
        for leaf, key in zip(leaves, keys, strict=False)
    ]
    return eqx.combine(jax.tree.unflatten(structure, noisy), rest)
