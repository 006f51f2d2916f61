"""What the library has recorded and the page shows: claims with their domains, verdicts, and where the filter works."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

CLAIMS = {
    "log-icot": ("LI-21", "LI-22", "LI-24", "LI-20"),
    "rl-sft": ("RS-34", "RS-15", "RS-16", "RS-33"),
    "kim-suzuki": ("KS-18", "KS-23", "KS-24", "KS-26"),
    "lego": ("L14", "L15", "L16", "L17"),
}

KEPT = ("says", "verdict", "predicted", "measured", "tolerance", "erratum", "seeds", "seconds", "scale")
RESULTS = Path(__file__).parents[1] / "results"


def ranged(each: Any) -> dict[str, Any] | None:
    """A range of a domain in JSON; what no slider can show is left out."""
    from sorites.ledger import Among, Between, Powers, Real

    if isinstance(each, Between):
        return {"kind": "whole", "low": each.low, "high": each.high, "step": each.step}
    if isinstance(each, Powers):
        return {"kind": "powers", "low": each.low, "high": each.high}
    if isinstance(each, Real):
        return {"kind": "real", "low": each.low, "high": each.high, "log": each.log}
    if isinstance(each, Among) and all(isinstance(value, int | float | str) for value in each.values):
        return {"kind": "among", "values": list(each.values)}
    return None


def claims() -> dict[str, Any]:
    """What the exhibits' claims say and where they are meant to hold."""
    from sorites.papers import registry

    known = registry.claims()

    def one(claim: Any) -> dict[str, Any]:
        ranges = {} if claim.domain is None else {name: ranged(each) for name, each in claim.domain.ranges.items()}
        return {
            "paper": claim.paper,
            "label": claim.label,
            "kind": claim.kind,
            "says": claim.says,
            "expected": claim.expected,
            "domain": {name: each for name, each in ranges.items() if each},
            "because": "" if claim.domain is None else claim.domain.because,
        }

    return {id: one(known[id]) for ids in CLAIMS.values() for id in ids}


def verdicts(ids: Sequence[str], known: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The claims judged at quick scale; a claim that says what it said when it was judged is not judged again."""
    from sorites.ledger import verify
    from sorites.papers import registry

    for id in ids:
        claim = registry.claims()[id]
        if known.get(id, {}).get("says") != claim.says:
            record = verify(claim, "quick")
            yield id, {name: getattr(record, name) for name in KEPT}


def filter_range() -> dict[str, Any]:
    """The share of seeds that the filter solves, by strings (rows) and threshold (columns)."""
    import json

    import polars as pl

    folder = RESULTS / "figures" / "kim-suzuki" / "filter-range"
    data, size = pl.read_parquet(folder / "data.parquet"), json.loads((folder / "about.json").read_text())
    thresholds, strings = sorted(data["threshold"].unique()), sorted(data["strings"].unique())
    table = data.group_by("strings", "threshold").agg((pl.col("accuracy") == 1).mean()).sort("strings", "threshold")
    shares = table["accuracy"].to_numpy().reshape(len(strings), len(thresholds)).tolist()
    parameters = size["parameters"]
    return {
        "thresholds": [float(f"{each:.3g}") for each in thresholds],
        "strings": strings,
        "shares": shares,
        "seeds": data["seed"].n_unique(),
        "bits": parameters["bits"],
        "sparsity": parameters["sparsity"],
    }
