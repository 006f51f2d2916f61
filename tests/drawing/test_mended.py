"""What was mended in single figures stays so; drawn from recorded tables, nothing is trained."""

import dataclasses
import re

import polars as pl
import pytest

from sorites.drawing import style
from sorites.papers.kim_suzuki.hardness_figures import Hardness
from sorites.papers.registry import figures
from sorites.report.figures import recorded

KNOWN = figures()


def frames_of(id):
    size = KNOWN[id].sizes["paper"]
    frames = recorded(KNOWN[id], dataclasses.asdict(size))
    assert frames is not None
    return frames, size


def drawn(id, frames, size):
    with style():
        picture = KNOWN[id].draw(frames, size)
        picture.draw_without_rendering()
    return picture


def words(picture):
    return [text.get_text() for text in picture.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.mark.parametrize("id", ["wen/5", "wen/10"])
def test_accuracy_and_loss_have_axes_of_their_own(id):
    picture = drawn(id, *frames_of("wen/5"))  # both draw the same tables
    for ax in picture.axes:
        labels = {line.get_label() for line in ax.lines}
        assert not ("black" in {line.get_color() for line in ax.lines} and "held-out loss" in labels)


def test_where_runs_stopped_is_counted():
    frames, size = frames_of("wen/1a")
    ticks = [label.get_text() for label in drawn("wen/1a", frames, size).axes[0].get_xticklabels()]
    part = frames["data"].filter((pl.col("sparsity") == 4) & ~pl.col("chain"))
    assert f"without {part['solved'].sum()}/{part.height}" in ticks[-1]


def test_ways_and_actions_are_named_in_words():
    said = words(drawn("lego/separation", *frames_of("lego/separation")))
    assert not {"fresh-decay", "fixed-residual", "C6*20", "S5[6]", "S3/itself"} & set(said)
    assert "C6, 20 names each" in said
    assert any(re.fullmatch(r"fresh, rate decays to 0\nmean, range of \d+ seeds?", title) for title in said)


def test_texts_stay_inside_their_axes():
    known = {"seed": 0, "signal": 0.1, "bound": 0.5, "samples for ratio 1": 9.0}
    rows = [
        known | {"learner": learner, "bits": bits, "ratio": 50.0 / bits}
        for learner in ("perceptron", "transformer", "chain")
        for bits in (4, 8)
    ]
    picture = drawn("kim-suzuki/hardness", {"data": pl.DataFrame(rows)}, Hardness((4, 8), (4, 8), (4, 8)))
    for ax in picture.axes:
        frame = ax.get_window_extent()
        for text in ax.texts:
            box = text.get_window_extent()
            assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
            assert frame.y0 <= box.y0 <= box.y1 <= frame.y1


def test_ticks_of_the_phase_diagram_are_powers_of_two():
    ticks = [
        label.get_text()
        for label in drawn("kim-suzuki/phase", *frames_of("kim-suzuki/phase")).axes[0].get_yticklabels()
    ]
    numbers = [int(tick.replace(",", "")) for tick in ticks]
    assert all(number & (number - 1) == 0 for number in numbers)
