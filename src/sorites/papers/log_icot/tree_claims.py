"""Claims about the tree, its levels and its products: counting, no model."""

import math

import equinox as eqx
import jax
import numpy as np

from ...ledger import Claim, Evidence, equal, shown
from ...models import AbstractModel, Gated, gated
from ...supervision import AbstractPrefix, Own, Shown, inputs_only
from ...tasks import Layout, Parity
from ...theory import products
from ...training import linear_icot, log_icot
from .setting import PAPER, Tree


def _indices(size: Tree) -> Evidence:
    wrong = 0
    for layers in range(1, int(math.log2(size.sparsity)) + 1):
        sparsity = 2**layers
        task = Parity(size.bits, sparsity)
        layout = task.layout
        formula = [task.bits + sparsity - sparsity // 2 ** (level - 1) for level in range(1, layers + 2)]
        wrong += list(layout.ends) != formula
        wrong += layout.positions != task.bits + sparsity - 1
        children = np.asarray(task.children(task.draw(jax.random.key(layers))))
        masks = products.input_sets(task.bits, children)
        for thought, (first, second) in enumerate(children):
            own = task.bits + thought
            wrong += not first < second < own
            wrong += masks[own] ^ masks[first] ^ masks[second] != 0
            wrong += max(layout.position_levels[first], layout.position_levels[second]) != layout.levels[thought] - 1
        wrong += bin(masks[-1]).count("1") != sparsity
    return Evidence((equal("mismatches", 0, wrong, 0),))


def _quadruples(size: Tree) -> Evidence:
    task = size.task()
    children = np.asarray(task.children(task.draw(jax.random.key(0))))
    masks, compared = products.input_sets(size.bits, children), []
    for level in range(task.layout.depth + 1):
        end = task.layout.ends[level]
        nested = int((children[: end - size.bits] >= size.bits).sum())
        formula = products.trivial_quadruples_formula(end, nested)
        compared.append(equal(f"N={end}", formula, products.trivial_quadruples(masks[:end]), 0))
    return Evidence(tuple(compared))


def _stages(size: Tree) -> Evidence:
    layout = size.task().layout
    return Evidence(
        (
            equal("Log-ICoT stages", math.log2(size.sparsity), len(log_icot(layout)), 0),
            equal("standard ICoT stages", size.sparsity - 1, len(linear_icot(layout)), 0),
            equal("forward passes, answer from the inputs", 1, _passes(size, Shown(inputs_only(layout))), 0),
            equal(
                "forward passes, chain written level by level",
                math.log2(size.sparsity),
                _passes(size, Own("greedy")),
                0,
            ),
            shown("thoughts to write one by one", None, layout.thoughts),
        )
    )


class Counted(AbstractModel):
    """A model that counts how often it is read."""

    model: Gated
    layout: Layout = eqx.field(static=True)
    calls: list[int | None] = eqx.field(static=True)

    def embed(self, chain):
        return self.model.embed(chain)

    def read(self, feed, depth=None):
        self.calls.append(depth)
        return self.model.read(feed, depth)

    def attention(self):
        return self.model.attention()


def _passes(size: Tree, prefix: AbstractPrefix) -> int:
    """How often a prefix reads the model, counted while it is traced."""
    task = size.task()
    model = Counted(model=gated(task), layout=task.layout, calls=[])
    chains = task.sample(task.draw(jax.random.key(0)), jax.random.key(1), 2)
    jax.eval_shape(lambda chains: prefix(model, chains, jax.random.key(2), None).scores, chains)
    return len(model.calls)


CLAIMS = (
    Claim(
        "LI-1", PAPER, "Sec. 2.1", "identity",
        "Levels end at n_l = n + k(1 - 2^{-(l-1)}), T = n + k - 1, every node is the product of its two children "
        "on the level below, and the root is the parity.",
        {"tiny": Tree(16, 8), "quick": Tree(64, 64), "paper": Tree(256, 256)}, _indices,
    ),
    Claim(
        "LI-10", PAPER, "Lemma 6 (= KS-14)", "identity",
        "Trivial 4-tuples among the first N positions number 3N^2 - 2N + 24 #{(node, internal child)}, so O(n^2).",
        {"tiny": Tree(8, 4), "quick": Tree(24, 16), "paper": Tree(64, 32)}, _quadruples,
    ),
    Claim(
        "LI-24", PAPER, "Sec. 3.1", "identity",
        "Log-ICoT takes log2 k stages where standard ICoT takes k - 1, and answers in one forward pass where writing the "
        "chain takes one per level.",
        {"tiny": Tree(8, 4), "quick": Tree(30, 16)}, _stages,
    ),
)  # fmt: skip
