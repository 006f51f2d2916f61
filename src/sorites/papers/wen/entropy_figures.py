"""Figures 6 and 7: the sorted heads of language models on worked and on bare answers."""

import dataclasses
import math
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...errors import require
from ...models import Architecture, Network
from ...models.network import network
from ...probes.attention import head_entropies
from ...probes.pretrained import entropies, file_hash, shared_problems, weights_hash
from ...probes.problems import Problem, continuation
from ...training import Lab
from ..figure import Figure, Frames
from .entropy_claims import sorted_heads

TEXTS = {"none": "bare answer", "cut": "worked answer, cut", "cot": "worked answer"}
INKS = tuple(name for name in COLOURS if name not in ("black", "yellow"))


@dataclasses.dataclass(frozen=True)
class Compared:
    """Folders of models, the base model first. Without any, networks of our own with random weights stand in: they
    show what is drawn and are no finding."""

    models: tuple[str, ...] = ()
    data: str = ""  # JSON lines or Parquet with question and answer
    problems: int = 100
    layers: int = 4  # shown: the first, the last and some between; 0: all
    held: tuple[str, ...] = ()  # what folders and file held, whatever was given here: the key of the stored tables

    def __post_init__(self):
        require(self.problems >= 1, f"entropies need problems: problems={self.problems}; use 1 or more")
        folders = tuple(folder for folder in self.models if folder)
        require(
            not folders or bool(self.data), "models read problems: data=''; give --data FILE with question and answer"
        )
        names = [Path(folder).resolve().name for folder in folders]
        require(len(set(names)) == len(names), f"models are told apart by their folders' names: {names}; rename one")
        object.__setattr__(self, "models", folders)
        held = [weights_hash(Path(folder).resolve()) for folder in folders]
        object.__setattr__(self, "held", (*held, file_hash(self.data)) if folders else ())


def _measure(size: Compared, lab: Lab) -> Frames:
    """The base model in every text, the others on worked answers."""
    if not size.models:
        values = {
            (f"random weights {seed}", mode): _random(seed, mode, min(size.problems, 4))
            for seed in (1, 2)
            for mode in (TEXTS if seed == 1 else ("cot",))
        }
    else:
        rows, _ = shared_problems(size.data, size.models, tuple(TEXTS), size.problems)
        values = {
            (Path(folder).resolve().name, mode): entropies(folder, rows, mode, lab)[:, 0].mean(axis=0)
            for folder in size.models
            for mode in (TEXTS if folder == size.models[0] else ("cot",))
        }
    rows = [
        {"model": model, "text": mode, "layer": layer + 1, "rank": rank + 1, "entropy": float(value)}
        for (model, mode), layers in values.items()
        for layer, heads in enumerate(layers)
        for rank, value in enumerate(np.sort(heads))
    ]
    return {"data": pl.DataFrame(rows)}


def _random(seed: int, mode: str, count: int) -> np.ndarray:
    """Layer by head of a network that was never trained, on made-up sums in bytes."""
    found, net = [], _network(seed)
    for first in range(12, 12 + count):  # two digits: texts of one length, one program
        text = f"{first + 1} more than {first} is {2 * first + 1}\n#### {2 * first + 1}"
        ids, start = _bytes(Problem(first, f"{first} + {first + 1} = ?", text), mode)
        found.append(np.asarray(_least(net, jnp.asarray(ids), start)))
    return np.mean(found, axis=0)


@eqx.filter_jit
def _least(net: Network, ids, start: int):
    return head_entropies(tuple(each[None] for each in net(ids)[1]), start)["entropy"]


def _network(seed: int) -> Network:
    return network(Architecture(4, 8, 64, 128, spread=0.12), 96, jax.random.key(seed), 128)


def _bytes(problem: Problem, mode: str) -> tuple[list[int], int]:
    first, rest, bare = (
        list(text.encode()) for text in (problem.question, continuation(problem, mode), continuation(problem, "none"))
    )
    return [*first, *(rest[: len(bare)] if mode == "cut" else rest)], len(first)


def _settings(data: pl.DataFrame) -> list[tuple[str, str]]:
    return data.select("model", "text").unique(maintain_order=True).rows()


def _draw(frames: Frames, size: Compared):
    data = frames["data"]
    depth, settings = int(data["layer"].max()), _settings(data)  # pyright: ignore
    count = min(size.layers or depth, depth)
    chosen = sorted({1 + round(place * (depth - 1) / max(count - 1, 1)) for place in range(count)})
    columns = min(4 if len(chosen) <= 8 else 7, len(chosen))
    lines = math.ceil(len(chosen) / columns)
    figure = new_figure(2.2 * columns + 1.0, 1.9 * lines + 1.3)
    axes = np.atleast_1d(figure.subplots(lines, columns, sharex=True, sharey=True)).ravel()
    for ax, layer in zip(axes, chosen, strict=False):
        for number, (model, text) in enumerate(settings):
            part = data.filter((pl.col("model") == model) & (pl.col("text") == text) & (pl.col("layer") == layer))
            cut = text == "cut"
            colour = QUIET if cut else COLOURS[INKS[number % len(INKS)]]
            ax.plot(part["rank"], part["entropy"], color=colour, linestyle="--" if cut else "-", linewidth=1.0 if cut else 1.6,
                    marker="" if cut or len(part) > 40 else ".", zorder=3 if cut else 2, label=f"{model}, {TEXTS[text]}")  # fmt: skip
        ax.set_title(f"layer {layer}", pad=6)
        ax.set_ylim(-0.03, 1.03)
    for ax in axes[len(chosen) :]:
        ax.set_visible(False)
    for ax in axes[max(len(chosen) - columns, 0) : len(chosen)]:  # the lowest of each column
        ax.tick_params(labelbottom=True)
        ax.set_xlabel("head, sorted")
    figure.supylabel("normalised entropy", fontsize=10)
    longest = max(len(f"{model}, {TEXTS[text]}") for model, text in settings)
    entry = 0.08 * longest + 0.6  # inches: its letters, and the line before them
    beside = max(int((2.2 * columns + 1.0) / entry), 1)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=beside)
    if not size.models:
        figure.suptitle("Networks with random weights: no finding", color=COLOURS["vermillion"], fontsize=11)
    return figure


def _find(frames: Frames, size: Compared) -> str:
    values = {}
    for model, text in _settings(frames["data"]):
        part = frames["data"].filter((pl.col("model") == model) & (pl.col("text") == text)).sort("layer", "rank")
        values[model, text] = part["entropy"].to_numpy().reshape(part["layer"].n_unique(), -1)
    (base, _), *_ = values
    none, cut, cot = (values[base, text] for text in TEXTS)
    parts = [
        f"{base}: {sorted_heads(cot, none):.0%} of the sorted heads are sparser on worked answers than on bare ones, "
        f"{sorted_heads(cut, none):.0%} with the worked answer cut to the same length"
    ]
    for (model, _), found in values.items():
        if model != base and found.shape == cot.shape:
            parts.append(f"{model}: {sorted_heads(found, cot):.0%} are sparser than those of {base} on worked answers")
    start = "" if size.models else "Random weights, no finding: give --models DIR,DIR --data FILE. "
    return start + "; ".join(parts) + "."


CAPTION = (
    "Normalised attention entropy (Eq. 1) of every head, sorted within its layer, mean over problems; the paper has Qwen2-7B and "
    "Qwen2-Math-7B on GSM8K. A minimum over more tokens is smaller whatever they say: the dashed line is the worked answer cut to "
    "the bare one's length. --models DIR,DIR --data FILE measures models of your own; no weights come with sorites."
)
FIGURES = (
    Figure(
        "wen/6", "Attention of language models on worked and bare answers", CAPTION,
        {"tiny": Compared(problems=1), "quick": Compared()}, _measure, _draw, _find, seconds=10, claims=("W26",),
    ),
    Figure(
        "wen/7", "The same in all layers", CAPTION,
        {"tiny": Compared(problems=1, layers=0), "quick": Compared(layers=0)}, _measure, _draw, _find, seconds=10, claims=("W26",),
    ),
)  # fmt: skip
