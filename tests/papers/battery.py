"""What every paper's claims and figures must pass."""

import dataclasses
import json
import re
import tempfile

from sorites.drawing import style
from sorites.ledger import Between, Powers, anywhere, verify
from sorites.report.figures import read_tables, results_folder
from sorites.store import Store

LATER = r"(?i)\b(until|before) an? (audit|review)\b|\bset after a run\b|\bsince a first run\b"
HERE = tempfile.TemporaryDirectory()  # gone with the process
LAB = Store(HERE.name)  # claims and figures of one process share their members


def judge(claim):
    """The claim's verdict at tiny scale: as expected, and a record that JSON can hold."""
    verdict = verify(claim, "tiny", lab=LAB)
    json.dumps(verdict.record(), allow_nan=False)
    assert verdict.as_expected, verdict
    told = re.search(LATER, " ".join(verdict.departures))
    assert claim.revised or not told, f"{claim.id} is revised, its departures say: {told}"
    assert verdict.departures or not claim.revised, f"{claim.id} does not say what was revised"
    return verdict


def holds_somewhere(claim):
    """The claim names its domain: ranges of its own parameters, whole numbers over a factor 2 or with a reason; sizes
    that are drawn from it lie inside."""
    assert claim.domain is not None
    assert set(claim.domain.ranges) <= {field.name for field in dataclasses.fields(claim.parameters("quick"))}
    for name, each in claim.domain.ranges.items():
        if isinstance(each, Between | Powers):
            assert each.high >= 2 * each.low or claim.domain.because, f"{name} spans less than a factor 2"
    sizes = anywhere(claim, 3, 0)
    assert sizes
    assert [claim.outside(size) for size in sizes] == [None] * len(sizes)


def draw(figure):
    """The figure at its smallest size, from its own tables."""
    size = figure.sizes.get("tiny") or figure.sizes["quick"]
    frames = figure.measure(size, LAB)
    assert frames["data"].height > 0
    with style():
        picture = figure.draw(frames, size)
    assert [ax for ax in picture.axes if ax.get_xlabel() or ax.get_title(loc="left")]
    if figure.find is not None:
        assert figure.find(frames, size).endswith(".")


def draw_recorded(figure, size):
    """The figure at paper scale, from results/."""
    frames = read_tables(results_folder() / "figures" / figure.paper / figure.name, dataclasses.asdict(size))
    assert frames is not None, "results/ holds other settings than the figure's"
    with style():
        figure.draw(frames, size)
    assert figure.find is not None
    assert figure.find(frames, size)
