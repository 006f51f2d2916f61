"""Claims about the tree, its levels and its products: counting, no model."""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ...ledger import Claim, Evidence, equal, shown
from ...models import AbstractModel, Gated, gated
from ...supervision import inputs_only
from ...tasks import Chain, Layout
from ...training import linear_icot, log_icot
from ..tree_checks import Tree, indices, quadruples
from .setting import PAPER


def _stages(size: Tree) -> Evidence:
    layout = size.task().layout
    return Evidence(
        (
            equal("Log-ICoT stages", math.log2(size.sparsity), len(log_icot(layout)), 0),
            equal("standard ICoT stages", size.sparsity - 1, len(linear_icot(layout)), 0),
            equal(
                "forward passes, answer from the inputs",
                1,
                _passes(
                    size, lambda model, chains: model.read_batch(chains.with_shown(jnp.asarray(inputs_only(layout))))
                ),
                0,
            ),
            equal(
                "forward passes, chain written level by level",
                math.log2(size.sparsity),
                _passes(size, lambda model, chains: model.write(chains, jax.random.key(2), "greedy")),
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

    def read(self, chain, depth=None, key=None):
        self.calls.append(depth)
        return self.model.read(chain, depth)


def _passes(size: Tree, use: Callable[[AbstractModel, Chain], Any]) -> int:
    """How often the model is read, counted while its use is traced."""
    task = size.task()
    model = Counted(model=gated(task), layout=task.layout, calls=[])
    chains = task.sample(task.draw(jax.random.key(0)), jax.random.key(1), 2)
    eqx.filter_eval_shape(lambda chains: use(model, chains), chains)
    return len(model.calls)


CLAIMS = (
    Claim(
        "LI-1", PAPER, "Sec. 2.1", "identity",
        "Levels end at n_l = n + k(1 - 2^{-(l-1)}), T = n + k - 1, every node is the product of its two children "
        "on the level below, and the root is the parity.",
        {"tiny": Tree(16, 8), "quick": Tree(64, 64), "paper": Tree(256, 256)}, indices,
    ),
    Claim(
        "LI-10", PAPER, "Lemma 6 (= KS-14)", "identity",
        "Trivial 4-tuples among the first N positions number 3N^2 - 2N + 24 #{(node, internal child)}, so O(n^2).",
        {"tiny": Tree(8, 4), "quick": Tree(24, 16), "paper": Tree(64, 32)}, quadruples,
    ),
    Claim(
        "LI-24", PAPER, "Sec. 3.1", "identity",
        "Log-ICoT takes log2 k stages where standard ICoT takes k - 1, and answers in one forward pass where writing the "
        "chain takes one per level.",
        {"tiny": Tree(8, 4), "quick": Tree(30, 16)}, _stages,
    ),
)  # fmt: skip
