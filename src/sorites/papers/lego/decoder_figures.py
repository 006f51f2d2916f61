"""Figures of the trained decoder: length curves, self-training, attention maps, and what separates the actions."""

import dataclasses

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...statistics import mean_interval
from ...tasks.actions import action_named
from ..figure import Figure, Frames
from .grids import LARGE, SMALL, TINY, Study, ensemble, measured
from .setting import LENGTHS, Theory, accuracies

TINTS = ("blue", "vermillion", "green", "purple", "orange", "sky", "black")


def curves(size: Study, found: dict[str, np.ndarray]) -> pl.DataFrame:
    """Theory and decoder at each length; the theory model is trained here, in seconds."""
    rows, theory = [], Theory(steps=size.theory_steps)
    for name in size.pair:
        action = action_named(name)
        values = accuracies(theory.features(action), theory.run(name).end, action)
        rows += [
            {"model": "theory", "action": name, "seed": 0, "length": n, "right": float(v)}
            for n, v in zip(LENGTHS, values, strict=True)
        ]
    for name in size.pair:
        for seed, member in enumerate(size.rows(name)):
            values = found["values"][-1][member]
            rows += [
                {"model": "decoder", "action": name, "seed": seed, "length": n, "right": float(v)}
                for n, v in zip(size.lengths, values, strict=True)
            ]
    return pl.DataFrame(rows)


def stage_curves(size: Study, found: dict[str, np.ndarray], stages: dict[str, np.ndarray]) -> pl.DataFrame:
    theory, hard, rows = Theory(steps=size.theory_steps), size.pair[1], []
    action = action_named(hard)
    features = theory.features(action)
    ends = {2: theory.run(hard).end} | {
        stage.length: stage.history.end for stage in theory.continued(hard, 3, size.theory_steps // 3, 1024)
    }
    for trained, end in ends.items():
        values = accuracies(features, end, action)
        rows += [
            {"model": "theory", "stage": trained, "seed": 0, "length": n, "right": float(v), "labels": 1.0}
            for n, v in zip(LENGTHS, values, strict=True)
        ]
    members = size.rows(hard)
    runs = {size.length: (found["values"][-1][members], np.ones(len(members)))}
    runs |= {length: (stages[f"values{length}"], stages[f"labels{length}"]) for length in size.stages}
    for trained, (values, labels) in runs.items():
        for seed, row in enumerate(values):
            rows += [{"model": "decoder", "stage": trained, "seed": seed, "length": n, "right": float(v), "labels": float(labels[seed])}
                     for n, v in zip(size.lengths, row, strict=True)]  # fmt: skip
    return pl.DataFrame(rows)


def maps(size: Study, found: dict[str, np.ndarray], keys: tuple[str, ...]) -> pl.DataFrame:
    rows = []
    for key in keys:
        for action, grid in zip(size.pair, found[key], strict=True):
            for (query, clause), value in np.ndenumerate(grid):
                rows.append({"map": key, "action": action, "query": query, "clause": clause, "attention": float(value)})
    return pl.DataFrame(rows)


def separation(size: Study, ensembles: dict[str, dict[str, np.ndarray]]) -> pl.DataFrame:
    """Every way, action, seed, check and length; attention at the last check."""
    rows = []
    for way, found in ensembles.items():
        for arm, name in enumerate(size.actions):
            for seed in range(size.seeds):
                member = arm * size.seeds + seed
                for check, step in enumerate(found["step"]):
                    for at, length in enumerate(size.lengths):
                        rows.append({
                            "way": way, "action": name, "seed": seed, "step": int(step), "length": length,
                            "right": float(found["values"][check, member, at]),
                            "clauses": float(found["clauses"][check, member, at]),
                            "loss": float(found["loss"][check, member]),
                            "predicate": float(found["predicate"][member, at, :length].mean()),
                            "answer": float(found["answer"][member, at, :length].mean()),
                        })  # fmt: skip
    return pl.DataFrame(rows)


def _lines(ax, part: pl.DataFrame, x: str, label: str, colour: str) -> None:
    """Mean over seeds, every seed as a faint point."""
    mean = part.group_by(x).agg(pl.col("right").mean()).sort(x)
    ax.plot(mean[x], mean["right"], "o-", color=COLOURS[colour], label=label, markersize=4)
    if part["seed"].n_unique() > 1:
        ax.scatter(part[x], part["right"], s=10, color=COLOURS[colour], alpha=0.4, linewidth=0)


def _axes(ax, title: str) -> None:
    ax.set_xscale("log", base=2)
    ax.set_xticks(LENGTHS, LENGTHS)
    ax.minorticks_off()
    ax.set(xlabel="test length L", ylim=(-0.03, 1.05), title=title)


def _draw_lengths(frames: Frames, size: Study):
    figure = new_figure(9.4, 3.9)
    axes = figure.subplots(1, 2, sharey=True)
    for ax, model, trained in zip(axes, ("theory", "decoder"), (2, size.length), strict=True):
        data = frames["data"].filter(pl.col("model") == model)
        for name, colour in zip(data["action"].unique(maintain_order=True), TINTS, strict=False):
            _lines(ax, data.filter(pl.col("action") == name), "length", name, colour)
        ax.axvline(trained, color=QUIET, linestyle="--", linewidth=1)
        seeds = data["seed"].n_unique()
        _axes(
            ax,
            f"{model}, trained at L = {trained}"
            + (f" ({seeds} seed{'s' if seeds > 1 else ''})" if model == "decoder" else ""),
        )
        ax.legend(loc="lower left")
    axes[0].set_ylabel("sentences with every value right")
    return figure


def _find_lengths(frames: Frames, size: Study) -> str:
    data, parts = frames["data"], []
    for model in ("theory", "decoder"):
        part = data.filter(pl.col("model") == model)
        top = part["length"].max()
        ends = part.filter(pl.col("length") == top).group_by("action", maintain_order=True).agg(pl.col("right").mean())
        parts.append(f"{model} at L={top}: " + ", ".join(f"{a} {r:.2f}" for a, r in ends.iter_rows()))
    return "; ".join(parts) + " (the paper: C6 near 1 to 160, S5 lower)."


def _draw_stages(frames: Frames, size: Study):
    figure = new_figure(9.4, 3.9)
    axes = figure.subplots(1, 2, sharey=True)
    for ax, model in zip(axes, ("theory", "decoder"), strict=True):
        data = frames["data"].filter(pl.col("model") == model)
        for stage, colour in zip(
            data["stage"].unique(maintain_order=True), ("vermillion", "orange", "green", "blue"), strict=False
        ):
            _lines(ax, data.filter(pl.col("stage") == stage), "length", f"up to L = {stage}", colour)
            ax.axvline(stage, color=COLOURS[colour], linestyle="--", linewidth=0.9)
        _axes(ax, f"{model}, {size.pair[1]}")
        ax.legend(loc="lower left")
    axes[0].set_ylabel("sentences with every value right")
    return figure


def _find_stages(frames: Frames, size: Study) -> str:
    parts = []
    for model in ("theory", "decoder"):
        part = frames["data"].filter(pl.col("model") == model)
        last = (
            part.filter(pl.col("length") == part["length"].max())
            .group_by("stage", maintain_order=True)
            .agg(pl.col("right").mean())
        )
        parts.append(
            f"{model} at L={part['length'].max()} by stage: " + ", ".join(f"{s}: {r:.2f}" for s, r in last.iter_rows())
        )
    labels = (
        frames["data"]
        .filter(pl.col("model") == "decoder")
        .group_by("stage", maintain_order=True)
        .agg(pl.col("labels").mean())
    )
    kept = ", ".join(f"{s}: {r:.2f}" for s, r in labels.iter_rows() if s != size.length)
    return "; ".join(parts) + f". Share of the decoder's own training sentences with every label true: {kept}."


def _grid(data: pl.DataFrame, key: str, action: str) -> np.ndarray:
    part = data.filter((pl.col("map") == key) & (pl.col("action") == action)).sort("query", "clause")
    return part["attention"].to_numpy().reshape(part["query"].n_unique(), -1)


def _heat(ax, grid: np.ndarray, title: str):
    length = grid.shape[0]
    image = ax.pcolormesh(grid, cmap="cividis", vmin=0, vmax=0.8)
    ax.axvline(length, color="white", linestyle=":", linewidth=1)
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
    figure = new_figure(9.6, 3.0)
    axes, image = figure.subplots(1, 2), None
    for ax, action in zip(axes, size.pair, strict=True):
        image = _heat(ax, _grid(frames["data"], "plain", action), action)
    axes[0].set_ylabel("query")
    assert image is not None
    figure.colorbar(image, ax=list(axes), label="attention", shrink=0.95)
    return figure


def _diagonals(grid: np.ndarray, order: np.ndarray | None = None) -> tuple[float, float]:
    length = len(grid)
    at = np.arange(length) if order is None else np.argsort(order)
    return float(grid[np.arange(length), at].mean()), float(grid[np.arange(length), length + np.arange(length)].mean())


def _find_maps(frames: Frames, size: Study) -> str:
    found = {action: _diagonals(_grid(frames["data"], "plain", action)) for action in size.pair}
    return (
        "Mean attention on the next predicate and on the query itself: "
        + "; ".join(f"{a} {p:.2f} and {q:.2f}" for a, (p, q) in found.items())
        + "."
    )


def _draw_permuted(frames: Frames, size: Study):
    figure = new_figure(11.0, 3.2)
    axes, image = figure.subplots(1, 3), None
    order = np.array(size.permutation)
    truth = np.zeros((size.length, 2 * size.length))
    truth[np.arange(size.length), np.argsort(order)] = 0.5
    truth[np.arange(size.length), size.length + np.arange(size.length)] = 0.5
    _heat(axes[0], truth, "where the two clauses stand")
    for ax, action in zip(axes[1:], size.pair, strict=True):
        image = _heat(ax, _grid(frames["data"], "permuted", action), action)
    for ax in axes:
        ax.set_xlabel("place (p predicates, a answers)")
    axes[0].set_ylabel("query")
    assert image is not None
    figure.colorbar(image, ax=list(axes), label="attention", shrink=0.95)
    return figure


def _find_permuted(frames: Frames, size: Study) -> str:
    order, parts = np.array(size.permutation), []
    for action in size.pair:
        before = _grid(frames["data"], "plain", action)
        after = _grid(frames["data"], "permuted", action)
        whole = np.concatenate([order, np.arange(size.length, 2 * size.length)])
        parts.append(f"{action} {np.abs(before[:, whole] - after).max():.1e}")
    return (
        "Largest difference between the permuted map and the plain map with its columns permuted: "
        + ", ".join(parts)
        + "."
    )


def _along(which: int):
    def draw(frames: Frames, size: Study):
        figure = new_figure(9.6, 5.6)
        axes = figure.subplots(2, 2)
        image = None
        for row, action in zip(axes, size.pair, strict=True):
            grid = _grid(frames["data"], "at20", action)
            part = grid[:, :20] if which == 0 else grid[:, 20:]
            image = row[0].pcolormesh(part, cmap="cividis", vmin=0, vmax=0.8)
            row[0].invert_yaxis()
            row[0].set(title=f"{action}, L = 20", xlabel=("predicate", "answer")[which], ylabel="query (answer)")
            row[0].grid(False)
            for length, colour in ((10, "sky"), (20, "blue")):
                grid = _grid(frames["data"], f"at{length}", action)
                values = grid[np.arange(length), np.arange(length) + (length if which else 0)]
                row[1].plot(
                    (np.arange(length) + 1) / length,
                    values,
                    "o-",
                    color=COLOURS[colour],
                    markersize=3,
                    label=f"L = {length}",
                )
            row[1].set(ylim=(0, 1), title=f"{action}: diagonal", xlabel="position in the sentence", ylabel="attention")
            row[1].legend(loc="upper right")
        assert image is not None
        figure.colorbar(image, ax=list(axes[:, 0]), label="attention", shrink=0.9)
        return figure

    return draw


def _find_along(which: int):
    def find(frames: Frames, size: Study) -> str:
        parts = []
        for action in size.pair:
            means = []
            for length in (10, 20):
                grid = _grid(frames["data"], f"at{length}", action)
                values = grid[np.arange(length), np.arange(length) + (length if which else 0)]
                means.append((values.mean(), values[-1] - values[0]))
            parts.append(
                f"{action} {means[0][0]:.3f} at L=10 and {means[1][0]:.3f} at L=20, changing by {means[1][1]:+.3f} along L=20"
            )
        return f"Attention on the {('right predicate', 'query itself')[which]}: " + "; ".join(parts) + "."

    return find


def _draw_separation(frames: Frames, size: Study):
    data = frames["data"].filter(pl.col("step") == pl.col("step").max().over("way"))
    ways = data["way"].unique(maintain_order=True).to_list()
    shown = [length for length in size.lengths if length > size.length][-3:]
    figure = new_figure(3.4 * len(shown) + 1.4, 1.2 + 0.62 * len(size.actions))
    axes = np.atleast_1d(figure.subplots(1, len(shown), sharey=True))
    for ax, length in zip(axes, shown, strict=True):
        for number, (way, colour) in enumerate(zip(ways, TINTS, strict=False)):
            part = data.filter((pl.col("way") == way) & (pl.col("length") == length))
            heights = np.arange(len(size.actions)) + (number - (len(ways) - 1) / 2) * 0.8 / max(len(ways), 2)
            for name, height in zip(size.actions, heights, strict=True):
                values = part.filter(pl.col("action") == name)["right"].to_numpy()
                low, high = np.clip(mean_interval(values), 0, 1)
                ax.plot([low, high], [height, height], color=COLOURS[colour], linewidth=1, alpha=0.5)
                ax.scatter(values, [height] * len(values), s=10, color=COLOURS[colour], alpha=0.6, linewidth=0)
            means = [part.filter(pl.col("action") == name)["right"].mean() for name in size.actions]
            ax.plot(means, heights, "D", color=COLOURS[colour], markersize=4, label=way)
        ax.set(xlim=(-0.04, 1.04), title=f"L = {length}", xlabel="every value right")
        ax.set_yticks(range(len(size.actions)), size.actions)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=min(len(ways), 6))
    return figure


def _find_separation(frames: Frames, size: Study) -> str:
    data = frames["data"].filter(pl.col("step") == pl.col("step").max().over("way"))
    easy, hard = size.pair
    parts = []
    for way in data["way"].unique(maintain_order=True):
        part = data.filter((pl.col("way") == way) & (pl.col("length") == size.lengths[-2]))
        by = {name: part.filter(pl.col("action") == name) for name in (easy, hard)}
        gap = by[easy]["right"].mean() - by[hard]["right"].mean()  # pyright: ignore
        loss = " / ".join(f"{by[name]['loss'].median():.0e}" for name in (easy, hard))
        parts.append(f"{way} {gap:+.2f} (loss {loss})")
    spread = (
        data.filter(pl.col("length") == size.lengths[-2])
        .group_by("action", maintain_order=True)
        .agg(pl.col("right").mean())
    )
    ranked = ", ".join(f"{name} {value:.2f}" for name, value in spread.sort("right", descending=True).iter_rows())
    return f"{easy} minus {hard} at L={size.lengths[-2]}, by way of training: {'; '.join(parts)}. Mean over ways, best first: {ranked}."


def _measure_separation(size: Study, trainer) -> Frames:
    return {"data": separation(size, {way: ensemble(size, way)[1] for way in size.ways})}


COMPARED = dataclasses.replace(
    SMALL, actions=("C6", "S5", "C6*20", "S5[6]"), ways=("fresh", "fresh-residual"), seeds=2, steps=2_000, checks=2
)
STATED = (
    "The paper states one layer, two heads, Adam 1e-4 and 300 epochs; every other choice is a field of the setting."
)
FIGURES = (
    Figure(
        "lego/1a", "Length generalisation of C6 and S5",
        "Share of sentences with every value right in a greedy free-running rollout. Left: the theory's model trained on two steps; "
        "right: the decoder trained at L = 5, points are seeds. " + STATED,
        {"tiny": TINY, "quick": SMALL, "paper": LARGE},
        lambda size, trainer: {"data": curves(size, ensemble(size, "fresh")[1])}, _draw_lengths, _find_lengths, seconds=40,
    ),
    Figure(
        "lego/1b", "Recursive self-training on S5",
        "Each stage trains on sentences of twice the length, labelled by the stage before. Dashed lines are training lengths.",
        {"tiny": TINY, "quick": SMALL, "paper": LARGE},
        lambda size, trainer: {"data": stage_curves(size, ensemble(size, "fresh")[1], measured(size, "stages"))},
        _draw_stages, _find_stages, seconds=60,
    ),
    Figure(
        "lego/2", "Attention of the trained decoder",
        "Mean over heads and 100 sentences of L = 5; rows are the answers that predict. One seed each. " + STATED,
        {"tiny": TINY, "quick": SMALL, "paper": LARGE},
        lambda size, trainer: {"data": maps(size, measured(size, "maps"), ("plain",))}, _draw_maps, _find_maps, seconds=40,
    ),
    Figure(
        "lego/5", "Attention with permuted predicates",
        "The models of Figure 2 on sentences whose predicates stand in another order: attention follows the shared variable.",
        {"tiny": TINY, "quick": SMALL, "paper": LARGE},
        lambda size, trainer: {"data": maps(size, measured(size, "maps"), ("plain", "permuted"))}, _draw_permuted, _find_permuted, seconds=40,
    ),
    Figure(
        "lego/6", "Attention to predicates beyond the training length",
        "Answer queries to predicates at L = 20, and attention on the right predicate along the sentence.",
        {"tiny": TINY, "quick": SMALL, "paper": LARGE},
        lambda size, trainer: {"data": maps(size, measured(size, "maps"), ("at10", "at20"))}, _along(0), _find_along(0), seconds=40,
    ),
    Figure(
        "lego/7", "Attention to answers beyond the training length",
        "Answer queries to answers at L = 20, and attention of each query on itself along the sentence.",
        {"tiny": TINY, "quick": SMALL, "paper": LARGE},
        lambda size, trainer: {"data": maps(size, measured(size, "maps"), ("at10", "at20"))}, _along(1), _find_along(1), seconds=40,
    ),
    Figure(
        "lego/separation", "What separates the actions in the decoder",
        "Every action under every way of training at the last check; diamonds are means over seeds, lines 95 % intervals of the mean. C6*20 has "
        "120 names for six actions, S5[6] six of S5's 120; A5/itself is simply transitive and not solvable.",
        {"tiny": dataclasses.replace(TINY, ways=("fresh",), seeds=2, steps=100), "quick": COMPARED, "paper": LARGE},
        _measure_separation, _draw_separation, _find_separation, seconds=90,
    ),
)  # fmt: skip
