"""What every paper's claims and figures must pass."""

import dataclasses
import json
import tempfile

from sorites.drawing import style
from sorites.ledger import verify
from sorites.report.figures import read_tables, results_folder
from sorites.store import Store

HERE = tempfile.TemporaryDirectory()  # gone with the process
LAB = Store(HERE.name)  # claims and figures of one process share their members


def judge(claim):
    """The claim's verdict at tiny scale: as expected, and a record that JSON can hold."""
    verdict = verify(claim, "tiny", lab=LAB)
    json.dumps(verdict.record(), allow_nan=False)
    assert verdict.as_expected, verdict
    return verdict


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
