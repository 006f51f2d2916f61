"""Claims about gradients of the literal transformer, at any weights. Float64."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import (
    Among,
    Between,
    Claim,
    Domain,
    Erratum,
    Evidence,
    Real,
    at_least,
    at_most,
    shown,
    verdict_of,
    worst,
)
from ...models.clause import BLOCKS, Clause, block_mask, clause, clause_loss
from ...models.srelu import SReLU, printed_modified
from ...tasks.actions import action_named
from ...tasks.lego import Lego, Sentences, encode
from ...theory.precision import in_float64
from .setting import PAPER, PLAIN_SRELU, ROUNDING


@dataclasses.dataclass(frozen=True)
class Literal:
    action: str = "S3"
    variables: int = 6
    neurons: int = 3
    samples: int = 16
    spread: float = 1.0  # of random weights: all pieces of the activation are met

    def __post_init__(self):
        require(self.samples >= 1, f"a batch has sentences: samples={self.samples}; use 1 or more")
        require(self.neurons >= 1, f"a class has neurons: neurons={self.neurons}; use 1 or more")
        require(self.variables >= 3, f"two steps take three variables: variables={self.variables}; use 3 or more")
        require(self.spread > 0, f"weights are random: spread={self.spread}; use a positive number")

    def task(self, length: int = 2) -> Lego:
        return Lego(self.action, length, self.variables)

    def model(self, version: str = "standard") -> Clause:
        """Random W and Q (on the trained blocks), logits unclipped."""
        words, (first, second) = self.task().vocabulary, jax.random.split(jax.random.key(1))
        model = clause(words, self.neurons, self.spread, 1e6, SReLU(version=version), first)  # pyright: ignore
        scores = self.spread * block_mask(words) * jax.random.normal(second, model.scores.shape)
        return eqx.tree_at(lambda m: (m.scores, m.bias), model, (scores, jnp.asarray(0.1)))


def losses(model: Clause, sentences: Sentences, step: int) -> jax.Array:
    """[sentence, slot]: -log p of the clause ans,step."""
    words = model.vocabulary
    seen, target = encode(sentences, words, step), encode(sentences, words, step + 1)[:, -1]
    return jax.vmap(lambda clauses, goal: clause_loss(model(clauses), goal))(seen, target)


def _closed_forms(model: Clause, sentences: Sentences, step: int):
    """Descent directions of W (Fact A.1) and Q (Fact D.1) for the summed five-token loss."""
    words = model.vocabulary
    seen, target = encode(sentences, words, step), encode(sentences, words, step + 1)[:, -1]

    def one(clauses, goal):
        embedded, attention = model.embed(clauses), model.attention(clauses)
        before = model.preactivations(clauses)
        error = jax.nn.one_hot(goal, words.size) - jax.nn.softmax(model(clauses))  # E_{i,j}
        active = error[..., None] * model.activation.derivative(before)  # E_{i,j} sReLU'(Lambda_{i,j,r})
        mixed = jnp.einsum("k,ksv->sv", attention, embedded)
        xi = jnp.einsum("ijr,ijrsv,ksv->k", active, model.neurons, embedded)
        centred = attention * (xi - attention @ xi)
        return active[..., None, None] * mixed[None, None, None], jnp.einsum(
            "sv,k,ktw->svtw", embedded[-1], centred, embedded
        )

    neurons, scores = jax.vmap(one)(seen, target)
    return neurons.mean(axis=0), scores.mean(axis=0)


@in_float64
def _gradients(size: Literal) -> Evidence:
    found = {"W": 0.0, "Q": 0.0}
    drawn = size.task().sentences(jax.random.split(jax.random.key(2), size.samples))
    for version in ("standard", "printed", "modified"):
        model = size.model(version)
        for step in (1, 2):
            slope = jax.jit(
                jax.grad(
                    lambda trained, model=model, step=step: losses(
                        eqx.tree_at(lambda m: (m.neurons, m.scores), model, trained), drawn, step
                    ).sum(axis=1).mean()
                )
            )((model.neurons, model.scores))  # fmt: skip
            closed = jax.jit(lambda model, step=step: _closed_forms(model, drawn, step))(model)
            for name, by_autograd, by_formula in zip(found, slope, closed, strict=True):
                found[name] = worst(found[name], float(jnp.abs(by_autograd + by_formula).max()))
    x = jnp.asarray([-0.5 - 1e-9, -0.5 + 1e-9])
    jump = float(jnp.abs(jnp.diff(SReLU(version="printed").derivative(x)))[0])
    leaky = SReLU(version="modified", leak=0.1, ceiling=5.0)
    joint = printed_modified(jnp.asarray([-0.1 - 1e-12, -0.1 + 1e-12]), leaky)
    own = leaky(jnp.asarray([-0.1 - 1e-12, -0.1 + 1e-12]))
    return Evidence(
        (
            at_most("|autograd - formula| for W (Facts A.1, B.1, C.2)", found["W"], ROUNDING),
            at_most("|autograd - formula| for Q (Fact D.1, Lemmas D.1, D.2, E.1, E.2)", found["Q"], ROUNDING),
            at_least("jump of the printed sReLU's slope at -rho", jump, 0.99),
            at_least(
                "jump of Assumption B.2's printed value at -varpi, / (varpi^2/2)",
                float(jnp.abs(jnp.diff(joint))[0]) / 0.005,
                0.99,
            ),
            at_most("the same jump with the value integrated", float(jnp.abs(jnp.diff(own))[0]), ROUNDING),
        ),
        erratum=Erratum(
            "the smoothed ReLU of Def. 3.4 is continuously differentiable",
            "for even q its slope jumps from 0 to -1 at -rho, and Assumption B.2's value by varpi^2/2 at -varpi; identities "
            "hold for every version away from the joints",
            verdict_of((at_most("jump of the slope", jump, ROUNDING),)),
        ),
        departures=("logits unclipped: the printed gradients have no factor for clipped logits",),
    )


@in_float64
def _conservation(size: Literal) -> Evidence:
    model, rate = size.model(), 0.3
    start, found = model, {"W": 0.0, "Q": 0.0}
    one_step = size.task(1).sentences(jax.random.split(jax.random.key(3), size.samples))
    two_step = size.task(2).sentences(jax.random.split(jax.random.key(4), size.samples))
    model = eqx.tree_at(lambda m: m.scores, model, jnp.zeros_like(model.scores))
    first = jax.jit(
        jax.grad(lambda w, model: losses(eqx.tree_at(lambda m: m.neurons, model, w), one_step, 1).sum(1).mean())
    )
    for _ in range(3):
        model = eqx.tree_at(lambda m: m.neurons, model, model.neurons - rate * first(model.neurons, model))
    moved = (model.neurons - start.neurons).sum(axis=-1)  # [slot, class, neuron, source]
    found["W"] = float(jnp.abs(moved - moved[..., :1]).max())
    mask = block_mask(model.vocabulary)

    def second(q, model):
        model = eqx.tree_at(lambda m: m.scores, model, q)
        return sum(losses(model, two_step, step)[:, 4].mean() for step in (1, 2))

    slope = jax.jit(jax.grad(second))
    for _ in range(3):
        model = eqx.tree_at(lambda m: m.scores, model, model.scores - rate * mask * slope(model.scores, model))
    rows = sum(model.scores[query, :, source].sum(axis=-1) for query, source in BLOCKS)
    found["Q"] = float(jnp.abs(jnp.asarray(rows)).max())
    moving = float(jnp.abs(model.scores).max())
    return Evidence(
        (
            at_most("spread of the slots' total increments over all neurons", found["W"], ROUNDING),
            at_most("largest row sum of Q43 + Q44", found["Q"], ROUNDING),
            at_least("largest entry of Q (the law is not about nothing)", moving, 1e-3),
        )
    )


@in_float64
def _equivariance(size: Literal) -> Evidence:
    model, task, generator = size.model(), size.task(), np.random.default_rng(0)
    words, drawn = task.vocabulary, task.sentences(jax.random.split(jax.random.key(5), size.samples))
    names, states = generator.permutation(size.variables), generator.permutation(words.values)
    token = np.arange(words.size)  # where each token goes
    token[: size.variables] = names
    token[words.first_value : words.blank] = words.first_value + states
    back = np.argsort(token)

    def renamed(model: Clause) -> Clause:
        neurons, scores = model.neurons[:, back][..., back], model.scores[:, back][..., back]
        return eqx.tree_at(lambda m: (m.neurons, m.scores), model, (neurons, scores))

    moved = Sentences(jnp.asarray(names)[drawn.variables], drawn.actions, jnp.asarray(states)[drawn.values])
    conjugate = action_named(size.action).conjugated(states)
    lawful = float((np.asarray(moved.values[:, 1:]) != conjugate.table[moved.actions, moved.values[:, :-1]]).sum())
    gap = stay = 0.0
    for step in (1, 2):
        before = jax.jit(lambda model, step=step: losses(model, drawn, step))(model)
        after = jax.jit(lambda model, step=step: losses(model, moved, step))(renamed(model))
        unmoved = jax.jit(lambda model, step=step: losses(model, moved, step))(model)
        gap = worst(gap, float(jnp.abs(before - after).max()))
        stay = worst(stay, float(jnp.abs(before - unmoved).max()))
    return Evidence(
        (
            at_most("loss after renaming variables and conjugating the action, change", gap, ROUNDING),
            at_most("renamed sentences that break the conjugated action", lawful, 0),
            shown("the same without renaming the weights", None, stay),
        )
    )


SMALL = Literal("C3", 4, 2, 6)
DOMAIN = Domain(
    {
        "action": Among("C3", "C4", "S3", "Q8"), "variables": Between(3, 8), "neurons": Between(1, 4),
        "samples": Between(4, 24), "spread": Real(0.5, 1.5),
    },
)  # fmt: skip
CLAIMS = (
    Claim(
        "L3", PAPER, "Facts A.1, B.1, C.2, D.1; Lemmas D.1, D.2, E.1, E.2", "identity",
        "The gradients of W and Q are E sReLU'(Lambda) sum_k Attn_k Z_k and Attn_k (Xi_k - sum Attn Xi) Z_q Z_k^T.",
        {"tiny": SMALL, "quick": Literal()}, _gradients, domain=DOMAIN,
    ),
    Claim(
        "L4", PAPER, "used in Lemmas B.7 and C.7 (not stated)", "identity",
        "Under descent on any batch every neuron's total increment is the same in each of the five slots, and each row of "
        "Q43 + Q44 sums to zero.",
        {"tiny": SMALL, "quick": Literal()}, _conservation, departures=(PLAIN_SRELU,), domain=DOMAIN,
    ),
    Claim(
        "L22", PAPER, "symmetries used throughout", "identity",
        "Renaming the variables and conjugating the action, in sentences and weights, leaves every loss unchanged.",
        {"tiny": SMALL, "quick": Literal()}, _equivariance, departures=(PLAIN_SRELU,), domain=DOMAIN,
    ),
)  # fmt: skip
