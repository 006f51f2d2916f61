"""Claims about gradients at any weights: where they vanish and how large they get. Float64."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from ...ledger import Between, Claim, Comparison, Domain, Evidence, Powers, Real, at_most, equal, shown, worst
from ...models import Gated, block
from ...models.base import padded_signs
from ...tasks import Chain
from ...theory import gated_laws
from ...theory.precision import in_float64
from .experiments import scattered
from .setting import FITS, PAPER, ROUNDING, Data, fits, staged
from .stream_claims import blocks


@in_float64
def _frozen_derivative(size: Data) -> Evidence:
    task = size.task()
    layout, (_, chains) = task.layout, size.drawn()
    model = scattered(task, np.random.default_rng(2), size.spread)
    full, level = block.full_weights(model.weights, layout), np.asarray(layout.position_levels)

    def states(weights):
        streams = block.forward(weights, padded_signs(chains).T, layout, model.link)
        return jnp.stack([blocks(s, number + 1, layout.positions, size.samples) for number, s in enumerate(streams)])

    slopes = np.abs(jax.jit(jax.jacobian(states))(full)).max(axis=(1, 4, 5))  # [layer l, position, layer l']
    allowed = np.zeros(slopes.shape, bool)
    for layer, position, weight in np.ndindex(*slopes.shape):
        own = level[position]  # h[beta] - 1
        allowed[layer, position, weight] = own >= 1 and layer >= own and weight + 1 <= own
    moved = (slopes[allowed] > 0).mean()
    return Evidence(
        (
            equal("largest derivative where zero is claimed", 0, float(slopes[~allowed].max()), 0),
            equal("share of the other derivatives that are non-zero", 1, float(moved), 0),
        )
    )


@functools.partial(jax.jit, static_argnums=2)
def _slopes(model: Gated, chains: Chain, depth: int) -> tuple[jax.Array, ...]:
    """Per layer: the derivative of every thought by every live weight, [chain, thought, node, source]."""

    def values(model: Gated, chain: Chain) -> jax.Array:
        return model.predict(chain, depth).mean()[:, 0]

    return jax.vmap(jax.jacobian(values), in_axes=(None, -1))(model, chains).weights


@in_float64
def _sensitivity(size: Data) -> Evidence:
    task = size.task()
    layout, (_, chains) = task.layout, size.drawn()
    found = 0.0
    for scale in (0.0, size.spread, 4 * size.spread):
        model = scattered(task, np.random.default_rng(3), scale)
        scores = model.attention()
        for depth in range(1, layout.depth + 1):
            moving = layout.ends[depth] - layout.inputs
            slopes = _slopes(model, chains, depth)
            for layer in range(depth):
                largest = np.abs(slopes[layer][:, :moving]).max(axis=(0, 1))
                bound = gated_laws.sensitivity_bound(model.link.lipschitz, depth, layer + 1, np.asarray(scores[layer]))  # pyright: ignore
                found = worst(found, float((largest / bound).max()))
    return Evidence((at_most("largest derivative / bound", found, 1, ROUNDING),))


@in_float64
def _bounded_gradient(size: Data) -> Evidence:
    layers = range(1, size.task().layout.depth + 1)
    ratios = {2**layer: _norm_over_bound(dataclasses.replace(size, sparsity=2**layer)) for layer in layers}
    return Evidence(
        (
            at_most("largest gradient norm / bound", worst(*ratios.values()), 1, ROUNDING),
            *(shown(f"the same at k={sparsity}", None, ratio) for sparsity, ratio in ratios.items()),
        ),
        departures=(
            "The bound adds worst cases: every slope at its largest, all attention on one key. The ratio falls with k "
            "(0.18, 0.11, 0.08 at k = 2, 4, 8 with n = 12): this checks the inequality, not its exponent.",
        ),
    )


def _norm_over_bound(size: Data) -> float:
    """The largest gradient norm over its bound, over stages and random weights."""
    task = size.task()
    layout, (_, chains) = task.layout, size.drawn()
    found = 0.0
    for scale in (0.0, size.spread, 4 * size.spread):
        model = scattered(task, np.random.default_rng(4), scale)
        for stage in range(1, layout.depth + 1):
            bound = gated_laws.gradient_bound(model.link.lipschitz, size.sparsity, stage)  # pyright: ignore
            found = worst(found, output_norm(model, chains, stage) / bound)
    return found


def output_norm(model: Gated, chains: Chain, stage: int) -> float:
    """The largest norm, over the chains, of the gradient of a stage's output by all live weights."""
    slopes, layout = _slopes(model, chains, stage), model.layout
    moving = layout.ends[stage] - layout.inputs
    square = sum((slope[:, :moving] ** 2).sum(axis=(1, 2, 3)) for slope in slopes[:stage])
    return float(jnp.sqrt(square).max())


@in_float64
def _zero_gradients(size: Data) -> Evidence:
    task = size.task()
    layout, (_, chains) = task.layout, size.drawn()
    model = scattered(task, np.random.default_rng(5), size.spread)
    generator = np.random.default_rng(6)
    full = jnp.asarray(generator.normal(size=(layout.depth, layout.positions, layout.positions)))
    stray, idle_loss, live_least = 0.0, 0.0, np.inf
    for stage in range(1, layout.depth + 1):
        shown, begin = staged(chains, task, stage), layout.ends[stage - 1]
        truth = chains.tokens[:, 0]

        def terms(weights, shown=shown, stage=stage, truth=truth):
            streams = block.forward(weights, padded_signs(shown).T, layout, model.link)
            output = block.decode(streams[-1], stage, layout, size.samples).T
            return (output - truth) ** 2

        slope = jax.jit(jax.grad(lambda w, terms=terms, begin=begin: terms(w)[begin:].sum()))(full)
        live = np.zeros(full.shape, bool)
        for layer in range(stage):
            live[layer, : layout.ends[layer], layout.ends[layer] : layout.ends[layer + 1]] = True
        stray = worst(stray, float(jnp.abs(jnp.where(live, 0, slope)).max()))
        idle_loss = worst(idle_loss, float(terms(full)[layout.ends[stage] :].sum()))
        live_least = min(live_least, float(jnp.abs(slope[stage - 1][live[stage - 1]]).max()))
    return Evidence(
        (
            equal("largest gradient off the live weights", 0, stray, 0),
            equal("loss above the stage's level", 0, idle_loss, 0),
            Comparison("largest gradient of the stage's own layer", None, live_least, None, live_least > 0),
        )
    )


CLAIMS = (
    Claim(
        "LI-6", PAPER, "Corollary 1", "identity",
        "A position's state moves with layer l' only if its writing layer is at least l' and has been passed; all "
        "other derivatives are exactly zero.",
        {"tiny": Data(6, 4, 2), "quick": Data(10, 8, 2)}, _frozen_derivative,
        domain=Domain(
            {"bits": Between(6, 12), "sparsity": Powers(2, 8), "samples": Between(2, 4), "spread": Real(0.1, 3, log=True)},
            where=fits, because=FITS,
        ),
    ),
    Claim(
        "LI-7", PAPER, "Lemma 3", "inequality",
        "Each derivative of a state after layer l by a weight of layer l' is at most 2 L_phi^{l-l'+1} sigma_j.",
        {"tiny": Data(8, 4, 4), "quick": Data(12, 8, 16)}, _sensitivity,
        domain=Domain(
            {"bits": Between(4, 16), "sparsity": Powers(2, 8), "samples": Between(2, 32), "spread": Real(0.1, 3, log=True)},
            where=fits, because=FITS,
        ),
    ),
    Claim(
        "LI-8", PAPER, "Lemma 4", "inequality",
        "The gradient norm of the stage-t output is at most the root of the sum of 4 L_phi^{2(t-l'+1)} over outputs, "
        "layers and queries (the sum that the lemma bounds by O(n^{2g})).",
        {"tiny": Data(8, 4, 4), "quick": Data(12, 8, 16)}, _bounded_gradient,
        domain=Domain(
            {"bits": Between(4, 16), "sparsity": Powers(2, 8), "samples": Between(2, 32), "spread": Real(0.1, 3, log=True)},
            where=fits, because=FITS,
        ),
    ),
    Claim(
        "LI-11", PAPER, "Lemmas 7 and 9", "identity",
        "At stage t only the live weights of layers 1..t receive a gradient, and the loss above level t is exactly "
        "zero.",
        {"tiny": Data(6, 4, 3), "quick": Data(12, 8, 5)}, _zero_gradients,
        domain=Domain(
            {"bits": Between(6, 16), "sparsity": Powers(2, 8), "samples": Between(2, 8), "spread": Real(0.1, 3, log=True)},
            where=fits, because=FITS,
        ),
    ),
)  # fmt: skip
