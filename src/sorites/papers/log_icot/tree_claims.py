"""Claims about the tree, its levels and its products: counting, no model."""

import math

import jax
import numpy as np

from ...ledger import Claim, Evidence, equal
from ...tasks import Parity
from ...theory import products
from ...training import linear_icot, log_icot
from .setting import PAPER, Tree


def _indices(size: Tree) -> Evidence:
    wrong = 0
    for layers in range(1, int(math.log2(size.sparsity)) + 1):
        sparsity = 2**layers
        task = Parity(max(size.bits, sparsity), sparsity)
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
    last = log_icot(layout)[-1]
    shown = np.asarray(last.prefix.shown)  # pyright: ignore
    thoughts_generated = int(shown[layout.inputs : -1].sum())  # thoughts the last stage still has to be given
    return Evidence(
        (
            equal("Log-ICoT stages", math.log2(size.sparsity), len(log_icot(layout)), 0),
            equal("standard ICoT stages", size.sparsity - 1, len(linear_icot(layout)), 0),
            equal("forward passes after internalising", 1, 1 + thoughts_generated, 0),
            equal("forward passes to write the chain out", size.sparsity - 1, layout.thoughts, 0),
        )
    )


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
        "Log-ICoT takes log2 k stages where standard ICoT takes k - 1, and answers in one forward pass where a "
        "written chain takes k - 1.",
        {"tiny": Tree(8, 4), "quick": Tree(30, 16)}, _stages,
    ),
)  # fmt: skip
