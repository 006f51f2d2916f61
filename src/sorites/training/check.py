"""What a run is refused for, in one sentence, before anything compiles."""

import equinox as eqx
import jax
import numpy as np

from ..errors import require
from ..models import Positional, Signs
from ..supervision import CrossEntropy, Own
from ..tasks import AbstractTask
from .member import born, enter, evaluate
from .plan import alone, plans, structure_of
from .stage import Run, Stage

_checked: set[tuple] = set()  # a run of the same structure need not be looked at again


def check(run: Run) -> None:
    """The model reads every stage's chains, its mask hides no child, its signals are finite, its goals are measured."""
    known = structure_of(run)
    if known in _checked:
        return
    for stage in {structure_of((stage.task, stage.taught)): stage for stage in run.stages}.values():
        refusal = refuses(run, stage)
        require(refusal is None, refusal or "")
    zero = jax.ShapeDtypeStruct((), np.int32)
    member = eqx.filter_eval_shape(lambda seed: enter(run.stages[0], born(run, seed)), zero)
    measured = {}
    for stage, (plan, number) in zip(run.stages, plans(run), strict=True):
        where = structure_of((stage.task, stage.evaluation))
        if where not in measured:  # names do not depend on what is taught
            found = eqx.filter_eval_shape(evaluate, alone(plan, number), zero, member)
            measured[where] = sorted([*found, "training.loss"])
        for until in (run.goal, stage.until):
            require(
                until is None or until.metric in measured[where],
                f"a goal is something measured: {until and until.metric!r}; use one of {', '.join(measured[where])}",
            )
    _checked.add(known)


def refuses(run: Run, stage: Stage) -> str | None:
    """A sentence, where this stage cannot be trained."""
    task, model = stage.task, run.model
    if _secret(task) != _secret(run.task):
        return "the stages of one run share a secret: a later task has another shape of it; use secrets of one shape"
    refusal = model.refuses(task.layout, task.alphabet)
    if refusal is not None:
        return refusal
    spoken, asked = _spoken(run, stage), (task.layout.thoughts, task.layout.slots, 2)
    if spoken != asked:
        return (
            f"a model says something about every thought and slot: {spoken} of {asked} over two chains; return Signs "
            "or Odds [thought, slot], or Classes [thought, slot, class], from `read`"
        )
    if isinstance(model, Positional):
        children = np.asarray(jax.jit(lambda: task.children(task.draw(jax.random.key(0))))())  # one program, not ten
        allowed = np.asarray(model.mask(task.layout))[task.layout.inputs :]
        if not np.take_along_axis(allowed, children, axis=1).all():
            return "a thought sees what it is computed from: the mask hides its children; use another mask"
    for term in stage.taught:
        if isinstance(term.prefix, Own) and term.prefix.how == "sampled" and not model.chances:
            return f"sampled thoughts need chances: {type(model).__name__} says any number; use another model"
        if isinstance(term.prefix, Own) and term.prefix.how == "soft" and not task.alphabet.signs:
            return f"soft thoughts need signs: the task has {task.alphabet}; use greedy or sampled thoughts"
        if isinstance(term.signal, CrossEntropy) and _by_means(run, stage):
            return (
                f"cross-entropy needs a chance for every token: {type(model).__name__} starts certain of some; "
                "use Squared or Hinge"
            )
    return None


def _spoken(run: Run, stage: Stage) -> tuple[int, ...]:
    """The shape of the tokens that it would choose for two chains."""

    def choose():
        chains = stage.task.sample(stage.task.draw(jax.random.key(0)), jax.random.key(1), 2)
        return run.model.fresh(jax.random.key(2)).read_batch(chains).greedy()

    return tuple(eqx.filter_eval_shape(choose).shape)


def _secret(task: AbstractTask) -> tuple:
    """The shape of what a member has to find."""
    leaves, structure = jax.tree.flatten(eqx.filter_eval_shape(lambda: task.draw(jax.random.key(0))))
    return structure, *((leaf.shape, leaf.dtype) for leaf in leaves)


def _by_means(run: Run, stage: Stage) -> bool:
    """Whether the model says signs by their means, which can be exactly one."""
    task = stage.task
    chains = eqx.filter_eval_shape(lambda: task.sample(task.draw(jax.random.key(0)), jax.random.key(1), 1))
    return isinstance(eqx.filter_eval_shape(lambda chains: run.model.read_batch(chains), chains), Signs)
