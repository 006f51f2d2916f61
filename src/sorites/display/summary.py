"""An ensemble in one line."""

from collections.abc import Iterable
from typing import Any

import numpy as np


def headline(metrics: Iterable[str]) -> list[str]:
    """Choose the metrics that a line has room for.

    Args:
        metrics: names of metrics.

    Returns:
        The first answer and the first loss on held-out chains; without such names, the first two.
    """
    metrics = list(metrics)
    answers = [name for name in metrics if name.endswith(".answer")]
    losses = [name for name in metrics if name.endswith("loss") and name != "training.loss"]
    return [*answers[:1], *losses[:1]] or metrics[:2]


def medians(metrics: dict[str, np.ndarray]) -> list[str]:
    """Write name and median of each metric, over the members that measured it; leave out what no member measured."""
    seen = {name: values[~np.isnan(values)] for name, values in metrics.items()}
    return [f"{name} {np.median(values):.3g}" for name, values in seen.items() if values.size]


def summary(history: Any) -> str:
    """Describe a `History` in one line: members, steps, and the last values of a metric or two."""
    count = len(history.seeds)
    solved = int((np.asarray(history.solved_at) >= 0).sum())
    parts = [f"{count} member{'' if count == 1 else 's'}", f"{solved} solved"]
    for name in ("diverged", "censored"):
        if number := int(np.asarray(getattr(history, name), bool).sum()):
            parts.append(f"{number} {name}")
    parts.append(f"{history.step[-1] if len(history.step) else 0} steps")
    plain = [name for name, values in history.metrics.items() if values.ndim == 2]
    last = medians({name: history.last(name) for name in headline(plain)})
    return ", ".join(parts) + (f"; median {', '.join(last)}" if last else "")
