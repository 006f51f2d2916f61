"""Claims about SFT's gradient: its size on a right prefix, when Lemma E.1 holds, and other losses."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from ...ledger import Between, Claim, Comparison, Domain, Erratum, Evidence, Scale, at_least, equal, shown, worst
from ...models import Positional
from ...supervision import Exponential, Hinge, LabelsFromPrefix, Logistic, OwnPrefix, assignments
from ...tasks import Boolean
from ...theory import sign_dynamics
from ...theory.precision import in_float64
from .exact import (
    keys_by_level,
    level_accuracy,
    loss_gradient,
    pretrained,
    pulls,
    scattered,
    secret_of,
    stepped,
    with_weights,
)
from .population import forced, own
from .setting import EXACT, GATES, PAPER, TREES, ThreeLevels, Tree


@in_float64
def _separation(size: Tree) -> Evidence:
    task = size.task()
    secret, keys = secret_of(task), keys_by_level(task)
    mine, _ = loss_gradient(pretrained(task), task, secret, own(task))
    true, _ = loss_gradient(pretrained(task), task, secret, forced(task))
    compared: list[Comparison] = []
    for level, (child, other) in enumerate(pulls(task, secret, true), start=1):
        relevant, irrelevant = sign_dynamics.forced_separation(keys[level - 1], size.sparsity - 1)
        compared.append(equal(f"teacher forcing, D={keys[level - 1]}: children", relevant, float(child.mean()), EXACT))
        if other.size:
            compared.append(
                equal(f"teacher forcing, D={keys[level - 1]}: others", irrelevant, float(other.mean()), EXACT)
            )
            compared.append(equal(f"D={keys[level - 1]}: spread within", 0, worst(np.ptp(child), np.ptp(other)), EXACT))
    first = pulls(task, secret, mine)[0][0].mean() - pulls(task, secret, true)[0][0].mean()
    compared.append(equal("own thoughts - teacher forcing on level 1", 0, float(first), EXACT))
    return Evidence(tuple(compared))


def _bent(task: Boolean) -> Positional:
    """Level 1 at random weights, so that its tokens are often wrong; equal weights above, as Lemma E.1 asks."""
    model = scattered(task, 3)
    upper = (np.asarray(task.layout.levels) > 1)[:, None]
    return with_weights(model, np.where(upper, 0.0, np.asarray(model.weights)))


@in_float64
def _condition(size: ThreeLevels) -> Evidence:
    task = size.task()
    secret = secret_of(task)
    taught = own(task)
    local = dataclasses.replace(
        taught, labels=LabelsFromPrefix()
    )  # phi_2 of the own prefix, as gamma in Lemma E.1 has it
    assert isinstance(taught.prefix, OwnPrefix)
    lemma, _ = loss_gradient(_bent(task), task, secret, local)
    actual, _ = loss_gradient(_bent(task), task, secret, taught)
    start, _ = loss_gradient(pretrained(task), task, secret, taught)
    learned = stepped(pretrained(task), start, 4.0)  # level 1 is right, the weights above it are still equal
    right, _ = loss_gradient(learned, task, secret, taught)
    clean, _ = loss_gradient(learned, task, secret, local)
    second = np.asarray(task.layout.levels) == 2
    gap = float(jnp.abs(lemma - actual)[second].max())
    return Evidence(
        (
            equal(
                "level 1 learned: share of right tokens on it", 1, float(level_accuracy(learned, task, secret)[0]), 0
            ),
            equal(
                "level 2 on a right prefix: Lemma E.1 - gradient", 0, float(jnp.abs(clean - right)[second].max()), EXACT
            ),
            at_least("largest entry of that gradient", float(jnp.abs(right)[second].max()), 1e-3),
            at_least("level 2 on a wrong prefix: largest |Lemma E.1 - gradient|", gap, 1e-3),
            shown("largest entry of that gradient, wrong prefix", None, float(jnp.abs(actual)[second].max())),
        ),
        erratum=Erratum(
            "Lemma E.1, Eqs. 50, 54, 55: the gradient is that of gamma(y-hat) for every W with equal weights in the column",
            "only where the children in y-hat are right: gamma holds phi_2(y-hat), the label is y-tilde",
            "fails" if gap > 1e-3 else "holds",
        ),
    )


@in_float64
def _losses(size: Tree) -> Evidence:
    compared: list[Comparison] = []
    for gate in GATES:
        task = size.task(gate)
        secret = secret_of(task)
        found = {type(loss).__name__: loss_gradient(pretrained(task), task, secret, forced(task, loss))[0]
                 for loss in (Hinge(), Logistic(), Exponential())}  # fmt: skip
        for name, gradient in found.items():
            split = [(child, other) for child, other in pulls(task, secret, gradient) if other.size]
            least = min(float(child.min()) for child, _ in split), min(-float(other.max()) for _, other in split)
            compared.append(at_least(f"{gate}, {name.lower()}: least push in the right direction", min(least), 1e-9))
        level = np.asarray(task.layout.levels) == 1
        if gate == "parity":
            half = found["Logistic"] - found["Hinge"] / 2
            compared.append(equal("parity: logistic - hinge/2, level 1", 0, float(jnp.abs(half)[level].max()), EXACT))
            weight = _cosh(task, secret)
            gap = np.abs(np.asarray(found["Exponential"])[0, : size.bits] - weight).max()
            compared.append(equal("parity: exponential - hinge weighted by cosh q, level 1", 0, float(gap), EXACT))
    return Evidence(tuple(compared))


def _cosh(task: Boolean, secret) -> np.ndarray:
    """The hinge direction of the first thought with weight cosh(q): the odd part of e^{-yq} averages out."""
    inputs, pair = assignments(task.bits), np.asarray(task.children(secret))[0]
    middle = inputs.mean(axis=0)
    label, score = inputs[pair].prod(axis=0), 2 * middle**2 - 1
    each = 2 / task.layout.thoughts * np.cosh(score) * label * 2 * middle * (inputs - middle) / task.bits
    return each.mean(axis=1)


@in_float64
def _ties(size: Tree) -> Evidence:
    """At a tie of the hinge, label * q = 1, the score does not move at all."""
    compared: list[Comparison] = []
    for gate in GATES:
        task = size.task(gate)
        inputs = assignments(task.bits)
        link = pretrained(task).link
        total = inputs.sum(axis=0)
        score = np.asarray(link(jnp.asarray(total / task.bits)))
        tied = np.abs(np.abs(score) - 1) < 1e-12
        slope = np.asarray(jnp.vectorize(jax.grad(lambda z, link=link: link(z) / 2))(jnp.asarray(total / task.bits)))
        push = np.abs(slope * (inputs - total / task.bits))[:, tied].max()
        compared.append(equal(f"{gate}: largest |psi' (y_p - xi)| at ties", 0, float(push), EXACT))
        compared.append(at_least(f"{gate}: ties met", int(tied.sum()), 1))
    return Evidence(tuple(compared))


EIGHT: dict[Scale, Tree] = {"tiny": Tree(8, 8), "quick": Tree(8, 8)}
CLAIMS = (
    Claim(
        "RS-20", PAPER, "Claim 4.1, Eqs. 115-118; Q4 of App. A", "identity",
        "On a right prefix at uniform attention SFT pushes children by (4/((k-1)D))(1/D - 2/D^2) and others by "
        "-(4/((k-1)D)) 2/D^2 (PARITY); with teacher forcing that holds on all levels at once.",
        EIGHT, _separation,
        domain=TREES,
    ),
    Claim(
        "RS-21", PAPER, "Lemma E.1", "identity",
        "Lemma E.1's form of the SFT gradient holds where the children in y-hat are right, and fails where they are not.",
        {"tiny": ThreeLevels(8, 8), "quick": ThreeLevels(8, 8)}, _condition,
        domain=Domain({"bits": Between(8, 13)}, because="bits begin at the 8 that three levels take and end where a gradient "
                      "per input grows slow; a fourth level would take 16"),
        departures=("The first half was checked on level 1, where it holds by construction, until a review, which had seen a gap of 0 "
                    "measured on level 2 against a gradient of 0.0179.",), revised=True,
    ),
    Claim(
        "RS-22", PAPER, "Prop. E.4", "identity",
        "At uniform attention on a right prefix hinge, logistic and exponential losses push every child up and every other key "
        "down for PARITY, AND and OR; on level 1 of PARITY logistic is exactly half of hinge, exponential is weighted by cosh q.",
        EIGHT, _losses,
        domain=TREES,
    ),
    Claim(
        "RS-23", PAPER, "Eq. 51", "identity",
        "Ties of the hinge (label * q = 1) never matter: there psi'(xi)(y_p - xi) = 0, given psi'(0) = 0.",
        EIGHT, _ties,
        domain=TREES,
    ),
)  # fmt: skip
