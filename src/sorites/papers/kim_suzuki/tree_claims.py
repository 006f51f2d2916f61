"""Claims about the tree, its products, the link and the softmax: no training."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import (
    Among,
    Between,
    Claim,
    Comparison,
    Domain,
    Evidence,
    Powers,
    Real,
    at_least,
    at_most,
    equal,
    shown,
    worst,
)
from ...models import AbstractLink, AbstractParityLink, Cosine, QuadraticLinear, Quartic
from ...models.requ import requ
from ...supervision import teacher_forcing
from ...tasks import Parity
from ...theory import products
from ...theory.precision import in_float64
from ..tree_checks import Correlations, Tree, correlations, indices, quadruples
from .setting import PAPER, ROUNDING, Weights

CHAINS = 64  # sampled, whose tokens are multiplied out
FITS = "the secret is among the bits"


def _fits(size: Tree | Correlations) -> bool:
    return size.sparsity <= size.bits


def _trees(bits: int, sparsity: int, **ranges: Any) -> Domain:
    return Domain({"bits": Between(4, bits), "sparsity": Powers(2, sparsity), **ranges}, _fits, FITS)


def _tree(size: Tree) -> Evidence:
    """Indices by their formulas, and the task's own tokens multiplied out, for every sparsity up to the given one."""
    wrong, sparsity = 0, 2
    while sparsity <= size.sparsity:
        task = Parity(size.bits, sparsity)
        draw, data = jax.random.split(jax.random.key(sparsity))
        secret = task.draw(draw)
        tokens = np.asarray(task.sample(secret, data, CHAINS).tokens)[:, 0].astype(int)
        first, second = np.asarray(task.children(secret)).T
        wrong += int((tokens[size.bits :] != tokens[first] * tokens[second]).sum())
        wrong += int((tokens[-1] != tokens[np.asarray(secret)].prod(axis=0)).sum())
        sparsity *= 2
    return Evidence((*indices(size).comparisons, equal("tokens that are not the product they should be", 0, wrong, 0)))


@dataclasses.dataclass(frozen=True)
class Joints:
    joints: tuple[float, ...] = (0.5, 0.25, 0.05)  # a of the quadratic-linear links
    points: int = 2001


@in_float64
def _links(size: Joints) -> Evidence:
    require(size.points >= 11, f"a grid needs points: points={size.points}; use 11 or more")
    grid, compared = jnp.linspace(-1, 1, size.points), []
    links: dict[str, AbstractParityLink] = {"cosine": Cosine(), "quartic": Quartic()}
    links |= {f"quadratic-linear({joint:g})": QuadraticLinear(joint) for joint in size.joints}
    for name, link in links.items():
        compared += _link(name, link, grid)
    for joint in size.joints:
        layer, form = requ(joint), QuadraticLinear(joint)
        values = worst(float(jnp.abs(layer(grid) - form(grid)).max()), float(jnp.abs(_slope(layer, grid) - _slope(form, grid)).max()))  # fmt: skip
        compared.append(
            equal(f"ReQU layer of {len(layer.knots)} neurons, joint {joint:g}: value and slope", 0, values, 1e-11)
        )
    errors = jnp.linspace(-0.2, 0.2, 41)
    law = 1 - jnp.cos(jnp.pi * errors)
    away = max(
        float(jnp.abs(jnp.abs(Cosine()(s + errors) - Cosine()(jnp.asarray(s))) - law).max()) for s in (-1.0, 0.0, 1.0)
    )
    compared.append(equal("cosine: |phi(s+e) - phi(s)| = 1 - cos(pi e)", 0, away, ROUNDING))
    return Evidence(tuple(compared))


def _slope(link: AbstractLink, t: jax.Array) -> jax.Array:
    return jax.jvp(link, (t,), (jnp.ones_like(t),))[1]


def _link(name: str, link: AbstractParityLink, grid: jax.Array) -> list[Comparison]:
    ends = jnp.asarray([-1.0, 0.0, 1.0])
    steepest, near = float(jnp.abs(_slope(link, grid)).max()), 1e-4
    identities = worst(
        float(jnp.abs(link(ends) - jnp.asarray([1.0, -1.0, 1.0])).max()),  # phi((a+b)/2) = ab
        float(jnp.abs(_slope(link, ends)).max()),
        float(jnp.abs(link(grid) - link(-grid)).max()),
    )
    curvature = (float(link(jnp.asarray(near))) + 1) / near**2
    return [
        equal(f"{name}: values and slopes at 0 and ±1, evenness", 0, identities, 1e-11),
        equal(f"{name}: curvature c", link.curvature, curvature, 1e-5 * link.curvature),
        at_most(f"{name}: steepest slope seen", steepest, link.lipschitz, 1e-9),
        at_least(f"{name}: steepest slope of any such link", link.lipschitz, 2 * (1 + 1e-9)),
    ]


@in_float64
def _softmax(size: Weights) -> Evidence:
    secret, chains = size.chains(7)
    task, taught = size.task(), teacher_forcing(size.task().layout)
    signs = chains.tokens[:, 0].astype(float)
    inputs, jacobian_off, mean_off, loss_off = task.layout.inputs, 0.0, 0.0, 0.0
    gradient = jax.jit(jax.grad(lambda model: taught(model, task, secret, chains, jax.random.key(0))))
    jacobian = jax.jit(
        jax.jacobian(lambda w, model: jax.nn.softmax(w, where=jnp.asarray(model.mask(model.layout)[-1])))
    )
    for model in size.models(mask="causal"):
        scores = model.full_attention()
        row, identity = scores[-1], jnp.eye(scores.shape[1])
        formula = (identity - row[None, :]) * row[:, None]  # d sigma_alpha / d w_j = (delta - sigma_j) sigma_alpha
        jacobian_off = worst(jacobian_off, float(jnp.abs(jacobian(model.weights[-1], model) - formula).max()))
        means = scores @ signs
        slopes = scores[:, :, None] * (signs[None] - means[:, None])  # d z_m / d w_jm
        along = jacobian(model.weights[-1], model).T @ signs
        mean_off = worst(mean_off, float(jnp.abs(along - slopes[-1]).max()))
        error = (model.link(means) - signs[inputs:]) * _slope(model.link, means)
        printed = jnp.mean(error[:, None] * slopes, axis=-1)  # Eq. 6
        loss_off = worst(loss_off, float(jnp.abs(gradient(model).weights - printed).max()))
    return Evidence(
        (
            equal("softmax Jacobian", 0, jacobian_off, ROUNDING),
            equal("dz/dw = sigma (x - z)", 0, mean_off, ROUNDING),
            equal("gradient of the loss, Eq. 6 against autodiff", 0, loss_off, ROUNDING),
        )
    )


def _triples(size: Tree) -> Evidence:
    task = size.task()
    children = np.asarray(task.children(task.draw(jax.random.key(0))))
    masks, wrong = products.input_sets(size.bits, children), 0
    for thought, pair in enumerate(children):
        own = size.bits + thought
        before = masks[:own]
        trivial = [
            (a, b) for a, left in enumerate(before) for b, right in enumerate(before) if left ^ right == masks[own]
        ]
        wrong += sorted(trivial) != sorted([tuple(pair), tuple(pair[::-1])])
        for j, mask in enumerate(before):
            partners = sum(mask ^ other == masks[own] for other in before)
            wrong += partners != (1 if j in pair else 0)
    return Evidence((equal("thoughts and keys that count otherwise", 0, wrong, 0),))


def _correlations(size: Correlations) -> Evidence:
    """The frequency, and how the largest correlation stands to kappa as the bits grow."""
    found = correlations(size)
    moves = []
    for bits in (max(4, size.sparsity), *(bits for bits in (8, 12, 16) if bits > size.sparsity)):
        each = correlations(dataclasses.replace(size, bits=bits, trials=min(size.trials, 20)))
        kappa, largest = each.comparisons[1].predicted, each.comparisons[1].measured
        moves.append(shown(f"largest correlation of 20 batches / kappa at d={bits}", None, largest / kappa))  # pyright: ignore
    return dataclasses.replace(found, comparisons=(*found.comparisons, *moves))


CLAIMS = (
    Claim(
        "KS-1", PAPER, "Sec. 2.1", "identity",
        "Levels end at d_l = d + k(1 - 2^-l), every node is the product of its two children on the level below, and the root is "
        "the parity, in indices and in the sampled tokens, for every k = 2, 4, ...",
        {"tiny": Tree(16, 8), "quick": Tree(64, 64), "paper": Tree(256, 256)}, _tree,
        domain=_trees(256, 256),
    ),
    Claim(
        "KS-2", PAPER, "Sec. 2.2 and 3.3", "identity",
        "Every link is even with phi((a+b)/2) = ab on signs, flat at 0 and ±1, curved by its c; the quadratic-linear link is a layer "
        "of five ReQU neurons; the cosine errs by exactly 1 - cos(pi e).",
        {"tiny": Joints(points=201), "quick": Joints()}, _links,
        domain=Domain({"joints": Among((0.5, 0.25, 0.05), (0.5,), (0.4, 0.1), (0.02,)), "points": Between(101, 4001)}),
    ),
    Claim(
        "KS-11", PAPER, "App. B", "identity",
        "d sigma_alpha/d w_j = (delta - sigma_j) sigma_alpha, hence dz_m/dw_jm = sigma_j (x_j - z_m) and Eq. 6 for the loss.",
        {"tiny": Weights(6, 4, trials=1), "quick": Weights()}, _softmax,
        domain=_trees(24, 16, spread=Real(0.1, 10, log=True), trials=Between(1, 6)),
    ),
    Claim(
        "KS-12", PAPER, "Lemma 9 (= LI-9)", "inequality",
        "With probability 1-p every non-trivial product of at most four positions has mean at most kappa = sqrt((2/n) log(32 d^4/p)) "
        "over n samples.",
        {"tiny": Correlations(8, 4, 200, 0.05, 20), "quick": Correlations(), "paper": Correlations(16, 8, 2000)}, _correlations,
        domain=_trees(
            12, 8, samples=Between(200, 2000), failure=Real(0.01, 0.2, log=True), trials=Between(20, 200)
        ),
    ),
    Claim(
        "KS-13", PAPER, "App. B, term (7)", "identity",
        "Exactly two ordered pairs of earlier positions multiply to x_m, its children; with one of them fixed to j there is exactly "
        "one partner if j is a child and none otherwise.",
        {"tiny": Tree(8, 4), "quick": Tree(24, 16), "paper": Tree(64, 32)}, _triples,
        domain=_trees(64, 32),
    ),
    Claim(
        "KS-14", PAPER, "App. B, terms (8) and (9) (= LI-10)", "identity",
        "Trivial 4-tuples among the first N positions number 3N^2 - 2N + 24 #{(node, internal child)}, so O(d^2).",
        {"tiny": Tree(8, 4), "quick": Tree(24, 16), "paper": Tree(64, 32)}, quadruples,
        domain=_trees(64, 32),
    ),
)  # fmt: skip
