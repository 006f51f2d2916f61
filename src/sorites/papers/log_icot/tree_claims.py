"""Claims about the tree, its levels and its products: counting, no model."""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...ledger import Between, Claim, Domain, Evidence, Powers, equal, shown
from ...models import AbstractModel, Gated
from ...models.gated import gated
from ...supervision import inputs_only
from ...tasks import Chain, Layout, Parity
from ...training import linear_icot, log_icot
from ..tree_checks import Tree, indices, quadruples
from .setting import FITS, PAPER, fits

CHAINS = 64  # whose tokens are looked at


def _indices(size: Tree) -> Evidence:
    """The tree's counts, and the tokens that the task writes."""
    thoughts = answers = seen = 0
    for layers in range(1, int(math.log2(size.sparsity)) + 1):
        task = Parity(size.bits, 2**layers)
        secret = task.draw(jax.random.key(layers))
        tokens = np.asarray(task.sample(secret, jax.random.key(0), CHAINS).tokens[:, 0], int)
        leaves = tokens[np.sort(np.asarray(secret))]
        wrong = tokens[size.bits :] != pairwise(leaves)
        thoughts, answers, seen = thoughts + int(wrong.sum()), answers + int(wrong[-1].sum()), seen + wrong.size
        answers += int((tokens[-1] != leaves.prod(axis=0)).sum())
    return Evidence(
        (
            *indices(size).comparisons,
            equal("thoughts that are no product of the level below, read off the tokens", 0, thoughts, 0),
            equal("last tokens that are no parity of the secret bits", 0, answers, 0),
            shown("thoughts looked at", None, seen),
        )
    )


def pairwise(leaves: np.ndarray) -> np.ndarray:
    """The thoughts from the secret's bits alone: neighbours multiplied, level by level up to the root."""
    levels = [leaves]
    while len(levels[-1]) > 1:
        levels.append(levels[-1][0::2] * levels[-1][1::2])
    return np.concatenate(levels[1:])


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
                    size, lambda model, chains: model.predict_batch(chains.with_shown(jnp.asarray(inputs_only(layout))))
                ),
                0,
            ),
            equal(
                "forward passes, chain written level by level",
                math.log2(size.sparsity),
                _passes(size, lambda model, chains: model.generate(chains, jax.random.key(2), "greedy")),
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

    def predict(self, chain, depth=None, key=None):
        self.calls.append(depth)
        return self.model.predict(chain, depth)


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
        {"tiny": Tree(16, 8), "quick": Tree(64, 64), "paper": Tree(256, 256)}, _indices,
        domain=Domain({"bits": Between(2, 256), "sparsity": Powers(2, 256)}, where=fits, because=FITS),
    ),
    Claim(
        "LI-10", PAPER, "Lemma 6 (= KS-14)", "identity",
        "Trivial 4-tuples among the first N positions number 3N^2 - 2N + 24 #{(node, internal child)}, so O(n^2).",
        {"tiny": Tree(8, 4), "quick": Tree(24, 16), "paper": Tree(64, 32)}, quadruples,
        domain=Domain({"bits": Between(2, 128), "sparsity": Powers(2, 64)}, where=fits, because=FITS),
    ),
    Claim(
        "LI-24", PAPER, "Sec. 3.1", "identity",
        "Log-ICoT takes log2 k stages where standard ICoT takes k - 1, and answers in one forward pass where writing the "
        "chain takes one per level: both by construction of the curricula and of the model, counted here.",
        {"tiny": Tree(8, 4), "quick": Tree(30, 16)}, _stages,
        domain=Domain({"bits": Between(4, 64), "sparsity": Powers(2, 32)}, where=fits, because=FITS),
    ),
)  # fmt: skip
