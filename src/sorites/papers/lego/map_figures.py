"""Attention of the trained decoder: maps, permuted predicates, longer sentences."""

import numpy as np
import polars as pl

from ...drawing import COLOURS, new_figure
from ..figure import Figure, Frames
from .grids import MAPS, SMALL, TINY, Study, measured


def maps(size: Study, found: dict[str, np.ndarray], keys: tuple[str, ...]) -> pl.DataFrame:
    rows = []
    for key in keys:
        for action, grids in zip(size.pair, found[key], strict=True):
            for (seed, query, clause), value in np.ndenumerate(grids):
                rows.append({"map": key, "action": action, "seed": seed, "query": query, "clause": clause,
                             "attention": float(value)})  # fmt: skip
    return pl.DataFrame(rows)


def _grids(data: pl.DataFrame, key: str, action: str) -> np.ndarray:
    """[seed, query, clause]"""
    part = data.filter((pl.col("map") == key) & (pl.col("action") == action)).sort("seed", "query", "clause")
    return part["attention"].to_numpy().reshape(part["seed"].n_unique(), part["query"].n_unique(), -1)


def _grid(data: pl.DataFrame, key: str, action: str) -> np.ndarray:
    """Mean over the seeds."""
    return _grids(data, key, action).mean(axis=0)


def _told(values: np.ndarray, form: str = ".2f") -> str:
    """The mean over seeds, and from two on their range."""
    told = f"{values.mean():{form}}"
    return told if len(values) == 1 else f"{told} ({values.min():{form}} to {values.max():{form}})"


def _over(size: Study) -> str:
    return f"mean of {size.seeds} seeds" if size.seeds > 1 else "one seed"


FULL = 0.6  # two clauses of weight one half each, and what unequal heads add
MOST_NUMBERED_CLAUSES = 5  # clauses up to which every cell has room for its number


def _heat(ax, grid: np.ndarray, title: str):
    length = grid.shape[0]
    image = ax.pcolormesh(grid, cmap="cividis", vmin=0, vmax=FULL)
    ax.axvline(length, color="white", linestyle=":", linewidth=1)
    if length <= MOST_NUMBERED_CLAUSES:
        for (row, column), share in np.ndenumerate(grid):
            if share >= 0.05:
                ax.text(column + 0.5, row + 0.5, f"{share:.2f}", ha="center", va="center", fontsize=8,
                        color="black" if share > 0.6 * FULL else "white")  # fmt: skip
    ax.invert_yaxis()
    every = max(1, length // 5)
    ax.set_xticks(
        np.arange(0, 2 * length, every) + 0.5,
        [f"p{i + 1}" if i < length else f"a{i - length}" for i in range(0, 2 * length, every)],
        fontsize=8,
    )
    ax.set_yticks(np.arange(0, length, every) + 0.5, [f"a{i}" for i in range(0, length, every)], fontsize=8)
    ax.set(title=title, xlabel="clause (p predicates, a answers)")
    ax.grid(False)
    return image


def _draw_maps(frames: Frames, size: Study):
    figure = new_figure(10.4, 3.6)
    axes, image = figure.subplots(1, 2), None
    for ax, action in zip(axes, size.pair, strict=True):
        image = _heat(ax, _grid(frames["data"], "plain", action), f"{action}, {_over(size)}")
        ax.set_xlabel("clause that is read: predicates p, then answers a")
    axes[0].set_ylabel("answer that predicts the next")
    assert image is not None
    figure.colorbar(image, ax=list(axes), label="attention", shrink=0.95)
    return figure


def _diagonal(grids: np.ndarray, which: int) -> np.ndarray:
    """[seed, query]: attention on the next predicate (0) or on the query itself (1)."""
    at = np.arange(grids.shape[1])
    return grids[:, at, at + which * len(at)]


def _find_maps(frames: Frames, size: Study) -> str:
    parts = []
    for action in size.pair:
        grids = _grids(frames["data"], "plain", action)
        both = (_told(_diagonal(grids, which).mean(axis=1)) for which in (0, 1))
        parts.append(f"{action} {' and '.join(both)}")
    seeds = f", mean of {size.seeds} seeds (least to most)" if size.seeds > 1 else ""
    return f"Attention on the next predicate and on the query itself{seeds}: {'; '.join(parts)}."


def _draw_permuted(frames: Frames, size: Study):
    figure = new_figure(11.0, 3.2)
    axes, image = figure.subplots(1, 3), None
    order = np.array(size.permutation)
    truth = np.zeros((size.length, 2 * size.length))
    truth[np.arange(size.length), np.argsort(order)] = 0.5
    truth[np.arange(size.length), size.length + np.arange(size.length)] = 0.5
    _heat(axes[0], truth, "where the two clauses stand")
    for ax, action in zip(axes[1:], size.pair, strict=True):
        image = _heat(ax, _grid(frames["data"], "permuted", action), f"{action}, {_over(size)}")
    for ax in axes:
        ax.set_xlabel("clause that is read")
    axes[0].set_ylabel("answer that predicts the next")
    assert image is not None
    figure.colorbar(image, ax=list(axes), label="attention", shrink=0.95)
    return figure


def _find_permuted(frames: Frames, size: Study) -> str:
    order, parts = np.array(size.permutation), []
    for action in size.pair:
        before = _grids(frames["data"], "plain", action)
        after = _grids(frames["data"], "permuted", action)
        whole = np.concatenate([order, np.arange(size.length, 2 * size.length)])
        parts.append(f"{action} {np.abs(before[:, :, whole] - after).max():.1e}")
    return (
        "Largest difference between the permuted map and the plain map with its columns permuted"
        + (f", over {size.seeds} seeds" if size.seeds > 1 else "")
        + f": {', '.join(parts)}."
    )


def _along(which: int):
    def draw(frames: Frames, size: Study):
        figure = new_figure(9.6, 5.6)
        axes = figure.subplots(2, 2)
        image = None
        for row, action in zip(axes, size.pair, strict=True):
            grid = _grid(frames["data"], "at20", action)
            part = grid[:, :20] if which == 0 else grid[:, 20:]
            image = row[0].pcolormesh(part, cmap="cividis", vmin=0, vmax=FULL)
            row[0].invert_yaxis()
            places, letter, first = np.arange(0, 20, 5), "pa"[which], 1 - which
            row[0].set_xticks(places + 0.5, [f"{letter}{place + first}" for place in places])
            row[0].set_yticks(places + 0.5, [f"a{place}" for place in places])
            row[0].set(title=f"{action}, L = 20", xlabel=("predicate that is read", "answer that is read")[which])
            row[0].set_ylabel("answer that\npredicts the next")
            row[0].grid(False)
            for length, colour in ((10, "sky"), (20, "blue")):
                values = _diagonal(_grids(frames["data"], f"at{length}", action), which)
                place = (np.arange(length) + 1) / length
                if size.seeds > 1:
                    row[1].plot(place, values.T, color=COLOURS[colour], linewidth=0.6, alpha=0.5)
                label = f"L = {length}" + (f", {_over(size)}" if size.seeds > 1 else "")
                row[1].plot(place, values.mean(axis=0), "o-", color=COLOURS[colour], markersize=3, label=label)
            row[1].set(
                ylim=(0, 1),
                title=f"{action}: diagonal" + (", thin lines are seeds" if size.seeds > 1 else ""),
                xlabel="place in the sentence, as a share of its length",
                ylabel="attention",
            )
            row[1].legend(loc="upper right")
        assert image is not None
        figure.colorbar(image, ax=list(axes[:, 0]), label="attention", shrink=0.9)
        return figure

    return draw


def _find_along(which: int):
    def find(frames: Frames, size: Study) -> str:
        parts = []
        for action in size.pair:
            shorter, longer = (_diagonal(_grids(frames["data"], f"at{length}", action), which) for length in (10, 20))
            parts.append(
                f"{action} {_told(shorter.mean(axis=1), '.3f')} at L=10 and {_told(longer.mean(axis=1), '.3f')} at L=20, "
                f"changing by {_told(longer[:, -1] - longer[:, 0], '+.3f')} along L=20"
            )
        seeds = f", mean of {size.seeds} seeds (least to most)" if size.seeds > 1 else ""
        return f"Attention on the {('right predicate', 'query itself')[which]}{seeds}: " + "; ".join(parts) + "."

    return find


FIGURES = (
    Figure(
        "lego/2", "Attention of the trained decoder",
        "Mean over heads and 100 sentences of L = 5. Row a0 is the given answer, which predicts the first; each row should read the next predicate "
        "(left of the dotted line) and itself (right), one half each. Shares below 0.05 are not written.",
        {"tiny": TINY, "quick": SMALL, "paper": MAPS},
        lambda size, lab: {"data": maps(size, measured(size, "maps", lab), ("plain",))}, _draw_maps, _find_maps, seconds=40,
    ),
    Figure(
        "lego/5", "Attention with permuted predicates",
        "The models of Figure 2 on sentences whose predicates stand in another order: attention follows the shared variable.",
        {"tiny": TINY, "quick": SMALL, "paper": MAPS},
        lambda size, lab: {"data": maps(size, measured(size, "maps", lab), ("plain", "permuted"))}, _draw_permuted, _find_permuted, seconds=40, claims=("L19",),
    ),
    Figure(
        "lego/6", "Attention to predicates beyond the training length",
        "Answer queries to predicates at L = 20, and attention on the right predicate along the sentence.",
        {"tiny": TINY, "quick": SMALL, "paper": MAPS},
        lambda size, lab: {"data": maps(size, measured(size, "maps", lab), ("at10", "at20"))}, _along(0), _find_along(0), seconds=40, claims=("L20",),
    ),
    Figure(
        "lego/7", "Attention to answers beyond the training length",
        "Answer queries to answers at L = 20, and attention of each query on itself along the sentence.",
        {"tiny": TINY, "quick": SMALL, "paper": MAPS},
        lambda size, lab: {"data": maps(size, measured(size, "maps", lab), ("at10", "at20"))}, _along(1), _find_along(1), seconds=40, claims=("L20",),
    ),
)  # fmt: skip
