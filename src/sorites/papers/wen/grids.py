"""What the figures measure: plain rows, so that a machine without polars can make them."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...training import PLAIN, Lab
from .experiments import FreshData, Net, RepeatedData, Studied, Watched, one_pass

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]
POINTS = 160  # evaluations kept per curve


def shape(name: str) -> tuple[int, int]:
    """ "4L2H" is four layers of two heads."""
    parts = name.upper().removesuffix("H").split("L")
    require(
        len(parts) == 2 and all(part.isdigit() and int(part) for part in parts),
        f"a shape is layers and heads like 4L2H: {name!r}; write one so",
    )
    return int(parts[0]), int(parts[1])


def _check_shapes(size: "Complexity | Repetitions") -> None:
    """Layers and heads come from the shapes alone."""
    for name in size.shapes:
        shape(name)
    require(len(size.shapes) > 0, "an experiment has a shape or more: shapes=(); use 1L4H")
    require(
        (size.layers, size.heads) == (Net.layers, Net.heads),
        f"this experiment takes layers and heads from its shapes: layers={size.layers}, heads={size.heads}; use "
        f"shapes={size.layers}L{size.heads}H",
    )


def _check_probed(size: "Curves | Repetitions") -> None:
    require(size.probed >= 1, f"these tables hold attention entropy: probed={size.probed}; use 1 or more")


@dataclasses.dataclass(frozen=True)
class Complexity(FreshData):
    """Sample complexity over k of one or several shapes."""

    shapes: tuple[str, ...] = ("1L4H",)

    def __post_init__(self):
        _check_shapes(self)

    def tables(self, lab: Lab = PLAIN) -> Tables:
        rows: Rows = []
        for name in self.shapes:
            layers, heads = shape(name)
            rows += [{"layers": layers, "heads": heads, **row} for row in one_pass(self, lab, layers, heads)]
        return {"data": rows}


@dataclasses.dataclass(frozen=True)
class Maps(Watched):
    """The attention of one trained member on one held-out sequence."""

    def tables(self, lab: Lab = PLAIN) -> Tables:
        studied = self.studied(lab)
        index = int(np.argmax(studied.solved))  # the first that learned it, else the first
        task, model, secret = studied.cases[index].run.task, studied.trained.model(index), studied.trained.secret(index)
        layers = model.maps(task.numbered(secret, jnp.zeros(1, jnp.uint32), held_out=True))  # pyright: ignore
        rows: Rows = []
        for layer, attention in enumerate(layers, start=1):
            for (head, query, source), value in np.ndenumerate(np.asarray(attention)[0]):
                if query >= self.bits and source <= query:
                    rows.append({"layer": layer, "head": head + 1, "query": query + 1, "source": source + 1,
                                 "attention": float(value)})  # fmt: skip
        order = [{"thought": place + 1, "position": int(bit) + 1} for place, bit in enumerate(np.asarray(secret.order))]
        outcome = {"solved": bool(studied.solved[index]), "samples": int(studied.samples[index])}
        return {"data": rows, "secret": order, "outcome": [outcome]}


@dataclasses.dataclass(frozen=True)
class Curves(Watched):
    """Accuracy and entropy along one-pass training, with the chain and without."""

    def __post_init__(self):
        _check_probed(self)

    def tables(self, lab: Lab = PLAIN) -> Tables:
        found: Tables = {"data": [], "entropy": []}
        for chain in (True, False):
            extend(found, self.studied(lab, chain), chain=chain)
        return found


@dataclasses.dataclass(frozen=True)
class Repetitions(RepeatedData):
    """Many passes over training sets of several sizes, for several shapes; with the chain only where asked."""

    shapes: tuple[str, ...] = ("1L4H",)
    with_chain: bool = False
    deep_rates: tuple[float, ...] = ()  # of shapes with two layers and more; empty: the same

    def __post_init__(self):
        _check_shapes(self)
        _check_probed(self)

    def tables(self, lab: Lab = PLAIN) -> Tables:
        found: Tables = {"data": [], "entropy": []}
        for name in self.shapes:
            layers, heads = shape(name)
            size = dataclasses.replace(self, rates=self.deep_rates) if self.deep_rates and layers > 1 else self
            extend(found, size.studied(lab, False, layers, heads), chain=False, layers=layers, heads=heads)
        if self.with_chain:
            layers, heads = shape(self.shapes[0])
            extend(found, self.studied(lab, True, layers, heads), chain=True, layers=layers, heads=heads)
        return found


def extend(found: Tables, studied: Studied, **labels: Any) -> None:
    """Add the curves of every member: "data" by evaluation, "entropy" by layer and head."""
    history, metrics = studied.history, studied.history.metrics
    kept = np.unique(
        np.linspace(1, len(history.step) - 1, min(POINTS, len(history.step) - 1)).astype(int)
    )  # from the first step on
    for member, case in enumerate(studied.cases):
        base = labels | {"sparsity": case.sparsity, "seed": case.seed, "rate": case.rate, "size": case.size}
        measured = np.flatnonzero(np.isfinite(metrics["forced.chain"][member]))
        last = max(measured[-1], 1) if len(measured) else 1
        for place in np.unique(np.append(kept[kept <= last], last)):
            at = base | {"samples": min(int(history.step[place]), case.steps) * studied.batch}
            names = {"accuracy": "forced.chain", "loss": "own.loss", "training_loss": "training.loss"}
            found["data"].append(at | {old: float(metrics[new][member, place]) for old, new in names.items()})
            if "entropy" in metrics:
                for (layer, head), value in np.ndenumerate(metrics["entropy"][member, place]):
                    found["entropy"].append(at | {"layer": layer + 1, "head": head + 1, "entropy": float(value)})


SMALLEST: dict[str, Any] = {"held_out": 256, "every": 20, "width": 32, "hidden": 64, "probed": 32}  # for tests
PAPER_NET: dict[str, Any] = {
    "width": 720, "hidden": 3072, "spread": 0.02, "batch": 512, "every": 16, "rates": (1e-4,), "probed": 128,
}  # fmt: skip
_slower: dict[str, Any] = PAPER_NET | {"rates": (6e-5,)}
_deep: dict[str, Any] = PAPER_NET | {"compute": "bfloat16"}  # float32 master weights
_rarely: dict[str, Any] = _deep | {"every": 64}
_three: dict[str, Any] = _deep | {"rates": (6e-5, 8e-5, 1e-4)}
_three_in_float32: dict[str, Any] = _three | {"compute": "float32"}
AT_PAPER_SCALE = (
    "At paper scale nets of two layers or more, in figures 4, 9 and 10 all nets, multiply in bfloat16 (weights stay float32); "
    "accuracy is measured every 8,192 sequences (figures 5, 9, 10 and 11: every 32,768), by the released code every 2,048."
)
PROBED = "Entropy is that of 128 of the 2,048 held-out sequences."
SECRET = (1, 2, 3, 7, 12, 13, 14, 16, 18, 19, 22, 24, 25, 26, 27, 29, 33, 34, 36, 38)  # of the released code, figure 3b
LARGE: dict[str, Any] = {  # what an accelerator does in minutes to hours; captions say what the paper has more of
    "1b": Curves(layers=4, heads=4, bits=30, sparsity=3, budget=10_000_000, seeds=4, **_deep),
    "1a": Complexity(bits=30, shapes=("4L4H",), budget=10_000_000, seeds=4, **_three),
    "2b": Complexity(bits=30, shapes=("1L1H",), budget=10_000_000, seeds=4, **_three_in_float32),
    "2L2H": Complexity(bits=30, shapes=("2L2H",), budget=10_000_000, seeds=4, **_three),
    "2a": Complexity(bits=30, shapes=("1L1H", "2L2H", "4L4H"), budget=10_000_000, seeds=4, **_three),  # gathers the three
    "3a": Complexity(bits=100, shapes=("1L1H",), chained=(20, 40, 60, 80, 100), bare=(), budget=1_000_000, threshold=0.995,
                     seeds=2, **PAPER_NET),
    "3b": Maps(layers=1, heads=1, bits=40, sparsity=20, secret=SECRET, budget=1_000_000, seeds=1, **_slower),
    "8": Maps(layers=2, heads=2, bits=40, sparsity=20, secret=SECRET, budget=1_000_000, seeds=1, **_deep),
    "4": Repetitions(bits=20, sparsity=6, sizes=(10_000,), presentations=10_000_000, shapes=("1L4H", "1L1H", "2L2H", "4L4H"),
                with_chain=True, deep_rates=(6e-5,), seeds=2, **_deep),
    "5": Repetitions(bits=20, sparsity=6, sizes=(50_000, 1_000_000), presentations=10_000_000, seeds=1, shapes=("4L4H",),
                stops=False, **_rarely),  # members of figure 10
    "9": Repetitions(bits=20, sparsity=12, sizes=(10_000, 1_000_000), presentations=10_000_000, with_chain=True, seeds=1,
                shapes=("1L1H", "4L4H", "8L8H"), **_rarely),
    "10": Repetitions(bits=20, sparsity=6, sizes=(5000, 10_000, 50_000, 100_000, 1_000_000), presentations=10_000_000, seeds=1,
                 shapes=("1L2H", "2L3H", "4L4H"), stops=False, **_rarely),
    "11": Repetitions(bits=20, sparsity=6, sizes=(50_000, 1_000_000), presentations=10_000_000, seeds=1, shapes=("2L3H",),
                 stops=False, **_rarely),  # members of figure 10
}  # fmt: skip
