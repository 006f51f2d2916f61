"""What a run is refused for, in one sentence, before anything compiles."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from ..errors import require
from ..models import AbstractModel, AbstractPrediction, Positional, SignMeans
from ..probes import Loss
from ..runtime.devices import on_processor
from ..supervision import Clipped, CrossEntropy, OwnPrefix, PolicyGradient, Supervision, TruePrefix
from ..tasks import AbstractTask, Chain
from .contracts import check_contracts
from .member import member_shapes
from .plan import plans
from .segments import measure
from .signatures import own_errors, require_returned, wrong_signature
from .stage import Run, Stage
from .structure import cached_by_structure, structure_of

_checked: set[tuple] = set()  # a run of the same structure need not be looked at again


def check(run: Run) -> None:
    """Refuse a run that cannot be trained, in one sentence.

    The model reads the chains of every stage, its mask hides no child, its losses are finite, and its goals are
    measured.
    """
    for stage in run.stages:
        refusal = _beyond(stage)  # depends on numbers, so it is checked every time
        require(refusal is None, refusal or "")
    refusal = _redrawn(run.model)
    require(refusal is None, refusal or "")
    require(
        run.start is None or _shapes(run.start.secret) == _secret(run.task),
        "got a start whose secret has another shape than the task draws; start from a member of the same task",
    )
    known = structure_of(run)
    if known in _checked:
        return
    for stage in {structure_of(_checked_of(stage)): stage for stage in run.stages}.values():
        refusal = refuses(run, stage)
        require(refusal is None, refusal or "")
        check_contracts(run.model, stage.task)
    zero, member, metrics = jax.ShapeDtypeStruct((), np.int32), member_shapes(run), {}
    for stage, (plan, _) in zip(run.stages, plans(run), strict=True):
        where = structure_of((stage.task, stage.evaluation))
        if where not in metrics:  # names do not depend on what is taught
            with own_errors(stage.evaluation.probes, "a measurement"):
                found = eqx.filter_eval_shape(measure, plan, zero, member)  # traced once, also for the program
            metrics[where] = sorted([*found, "training.loss"])
        for until in (run.goal, stage.until):
            require(
                until is None or until.metric in metrics[where],
                f"a goal is something measured: {until and until.metric!r}; use one of {', '.join(metrics[where])}",
            )
    _checked.add(known)


def _redrawn(model: AbstractModel) -> str | None:
    """Refuse weights that every member would silently replace by its own."""
    if model.pretrained or type(model).init is AbstractModel.init:
        return None
    weights = jax.tree.leaves(eqx.filter(model, model.trainable()))
    if not any(np.asarray(weight).any() for weight in weights):
        return None
    drawn = model.init(jax.random.key(0))
    others = jax.tree.leaves(eqx.filter(drawn, drawn.trainable()))
    pairs = [(np.asarray(weight), np.asarray(other)) for weight, other in zip(weights, others, strict=False)]
    if not any(weight.any() and not np.array_equal(weight, other) for weight, other in pairs):
        return None
    return (
        f"got a {type(model).__name__} with weights, of which each member would draw its own; use "
        "model.with_weights_kept() to train these, or build the model with zeros in their place"
    )


def _checked_of(stage: Stage) -> tuple:
    """What `refuses` depends on."""
    return stage.task, stage.supervisions, stage.source, stage.evaluation


def refuses(run: Run, stage: Stage) -> str | None:
    """A sentence, where this stage cannot be trained."""
    task, model = stage.task, run.model
    refusal = wrong_signature(stage, model)
    if refusal is not None:
        return refusal
    if task is not run.task and _secret(task) != _secret(run.task):
        return "the stages of one run share a secret: a later task has another shape of it; use secrets of one shape"
    refusal = model.refuses(task.layout, task.alphabet) or _unread(model, task) or _parted(stage)
    if refusal is not None:
        return refusal
    thoughts = (task.layout.thoughts, task.layout.slots)
    if not stage.supervisions:
        return "got no supervisions; allowed is at least one; use for example teacher_forcing(task.layout)"
    for term in stage.supervisions:
        if np.shape(term.where) != thoughts:
            return f"`where` weighs thoughts and slots: {np.shape(term.where)} of {thoughts}; make it from the layout"
        mask = term.prefix.shown if isinstance(term.prefix, TruePrefix) else None
        if mask is not None and np.shape(mask) != (task.layout.positions,):
            return (
                f"got a mask `shown` of length {len(mask)}; allowed is {task.layout.positions}, one entry for each "
                "position; use for example inputs_only(task.layout)"
            )
        if isinstance(term.prefix, OwnPrefix) and term.prefix.how == "sampled" and not model.probabilistic:
            return (
                f"got sampled thoughts for a {type(model).__name__}, whose predictions are no probabilities; "
                "use another model"
            )
        if isinstance(term.prefix, OwnPrefix) and term.prefix.how == "soft" and not task.alphabet.signs:
            return f"soft thoughts need signs: the task has {task.alphabet}; use greedy or sampled thoughts"
        means = isinstance(_prediction(model, task), SignMeans)  # a mean can be exactly one
        if isinstance(term.objective, CrossEntropy) and means:
            return (
                f"got CrossEntropy for a {type(model).__name__}, which starts certain of some tokens; "
                "use Squared or Hinge"
            )
        if not type(term.objective).__module__.startswith("sorites."):
            shape = _loss_shape(term, model, task)
            if shape != ():
                return (
                    f"got a loss of shape {shape} from {type(term.objective).__name__}; allowed is one number; return "
                    "for example weighted(terms, where)"
                )
    return None


def _loss_shape(term: Supervision, model: AbstractModel, task: AbstractTask) -> tuple[int, ...]:
    """The shape of a user's own loss on two chains."""
    secret, key = jax.eval_shape(lambda: task.draw(jax.random.key(0))), jax.random.key(1)
    with own_errors(term.objective, "__call__"):
        loss = eqx.filter_eval_shape(
            lambda chains, secret: term(model.for_member(key), task, secret, chains, key), _sampled(task), secret
        )
    return np.shape(loss)


def _sampled(task: AbstractTask) -> Chain:
    """The shapes of two chains."""
    with own_errors(task, "draw and sample"):
        chains = eqx.filter_eval_shape(lambda: task.sample(task.draw(jax.random.key(0)), jax.random.key(1), 2))
    require_returned(task, "sample", chains, Chain)
    return chains


@cached_by_structure
def _prediction(model: AbstractModel, task: AbstractTask) -> AbstractPrediction:
    """The shapes of a new model's prediction of two chains."""
    chains = _sampled(task)

    def predicted(chains):
        new = model.for_member(jax.random.key(2))
        if type(model).predict_batch is AbstractModel.predict_batch:  # which needs a prediction for each chain
            one = eqx.filter_eval_shape(new.predict, jax.tree.map(lambda leaf: leaf[..., 0], chains))
            require_returned(model, "predict", one, AbstractPrediction)
        return new.predict_batch(chains)

    with own_errors(model, "predict"):
        found = eqx.filter_eval_shape(predicted, chains)
    require_returned(model, "predict_batch", found, AbstractPrediction)
    return found


@cached_by_structure
def _unread(model: AbstractModel, task: AbstractTask) -> str | None:
    """Refuse a task whose arrays contradict its layout, and a model that does not predict all of it."""
    layout = task.layout

    def made():
        secret = task.draw(jax.random.key(0))
        chains = task.sample(secret, jax.random.key(1), 2)
        labels = task.relabel(secret, chains.tokens)
        return {"sample": chains.tokens, "relabel": labels, "children": task.children(secret, chains.tokens)[:, :1]}

    asked = (layout.thoughts, layout.slots, 2)
    _sampled(task)
    with own_errors(task, "relabel and children"):
        found = eqx.filter_eval_shape(made)
    for name, shape in {
        "sample": (layout.positions, *asked[1:]), "relabel": asked, "children": (layout.thoughts, 1),
    }.items():  # fmt: skip
        if found[name].shape != shape:
            return (
                f"a task's arrays have its layout's shape: {name} gives {found[name].shape}, the layout asks for "
                f"{shape} (two chains, batch last); change one of them"
            )
    tokens = eqx.filter_eval_shape(lambda prediction: prediction.greedy(), _prediction(model, task))
    if tokens.shape != asked:
        return (
            f"got predictions of shape {tokens.shape} for two chains; allowed is {asked}, one for each thought and "
            "slot; return SignMeans, SignLogits [thought, slot] or ClassLogits [thought, slot, class] from `predict`"
        )
    if isinstance(model, Positional):
        children = np.asarray(jax.jit(lambda: task.children(task.draw(jax.random.key(0))))())  # one program, not ten
        allowed = np.asarray(model.mask(layout))[layout.inputs :]
        if not (np.take_along_axis(allowed, children, axis=1) | (children < 0)).all():
            return "a thought sees what it is computed from: the mask hides its children; use another mask"
    return None


def _parted(stage: Stage) -> str | None:
    """A group baseline compares whole groups, in a batch, what is differentiated of it at once, and what the loss is
    measured on."""
    counts = {"batch": stage.source.samples}
    if any(isinstance(probe, Loss) for probe in stage.evaluation.probes):
        counts["count"] = stage.evaluation.count
    for objective in (term.objective for term in stage.supervisions):
        objective = objective.policy_gradient if isinstance(objective, Clipped) else objective
        if not isinstance(objective, PolicyGradient) or objective.baseline != "group":
            continue
        for name, count in counts.items():
            if count % objective.group:
                return f"a group baseline needs whole groups: {name}={count}, group={objective.group}; use a multiple"
        for count in stage.source.pieces:
            if count % objective.group:
                return (
                    f"a group baseline needs whole groups: batch={counts['batch']} is taken in blocks of {count}, "
                    f"group={objective.group}; use a group that divides {count}, or a smaller batch"
                )
    return None


@jax.jit
def _counted(task: AbstractTask):
    return task.counted(task.draw(jax.random.key(0)))


def _there(task: AbstractTask) -> np.ndarray:
    """Which thoughts count."""
    with on_processor():
        return np.asarray(_counted(task))


def _beyond(stage: Stage) -> str | None:
    """What is taught is there: a chain that is shorter than its layout has no last thoughts."""
    if type(stage.task).counted is AbstractTask.counted:
        return None
    there = _there(stage.task)
    for term in stage.supervisions:
        where = np.asarray(term.where)
        if len(where) == len(there) and not term.answer and not where[there].any():  # another length is refused below
            return (
                f"something that is taught must be there: the chain has {int(there.sum())} thoughts, of its layout's "
                f"{len(there)} others are taught; give it room for no more than it has"
            )
    return None


def _secret(task: AbstractTask) -> tuple:
    """The shapes of the secrets that the task draws."""
    return _shapes(eqx.filter_eval_shape(lambda: task.draw(jax.random.key(0))))


def _shapes(secret: Any) -> tuple:
    leaves, structure = jax.tree.flatten(secret)
    return structure, *((np.shape(leaf), leaf.dtype) for leaf in leaves)
