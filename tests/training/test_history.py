"""Histories: queries, joining, files, frames."""

import dataclasses
import io

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from sorites.errors import SpecError
from sorites.training import History

NAN = np.nan


@pytest.fixture
def history():
    """Two members, two stages; the second left stage 1 early and diverged in stage 2."""
    return History(
        seeds=np.array([3, 5]),
        stage=np.array([1, 1, 2]),
        step=np.array([0, 2, 2]),
        metrics={
            "loss": np.array([[1.0, 0.5, 0.25], [2.0, NAN, NAN]], np.float32),
            "mass": np.array([[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], [[0.7, 0.8], [NAN, NAN], [NAN, NAN]]], np.float32),
        },
        solved_at=np.array([2, -1]),
        samples=np.array([128, 0]),
        diverged=np.array([False, True]),
        censored=np.array([False, False]),
        secrets=np.array([[0, 1], [2, 3]]),
    )


def same(one: History, other: History):
    for field in ("seeds", "stage", "step", "solved_at", "samples", "diverged", "secrets"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    assert one.metrics.keys() == other.metrics.keys()
    for name, values in one.metrics.items():
        np.testing.assert_array_equal(values, other.metrics[name])
        assert values.dtype == other.metrics[name].dtype


def test_last_entry_and_end(history):
    np.testing.assert_array_equal(history.last("loss"), [0.25, np.nan])  # the second member diverged
    np.testing.assert_allclose(history.last("mass"), [[0.5, 0.6], [np.nan, np.nan]])
    assert history.entry(1, "loss").tolist() == [1.0, 2.0]
    assert history.end(1, "loss").tolist() == [0.5, 2.0]  # the last that the member made there
    np.testing.assert_array_equal(history.end(2, "loss"), [0.25, NAN])


def test_save_and_load(history, trained, tmp_path):
    for index, each in enumerate((history, trained.history)):
        path = each.save(tmp_path / f"{index}.npz")
        same(History.load(path), each)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.npz", "1.npz"]  # nothing partial is left


def test_files_hold_no_pickle(history, tmp_path):
    with np.load(history.save(tmp_path / "h.npz"), allow_pickle=False) as stored:
        assert {"seeds", "metric:loss", "metric:mass"} <= set(stored.files)


def test_frames(history):
    frame = history.frame()
    assert frame.columns == ["seed", "stage", "step", "loss", "mass.1", "mass.2"]
    assert frame["seed"].to_list() == [3, 3, 3, 5, 5, 5]
    assert frame.filter(pl.col("seed") == 5)["loss"].to_list() == [2.0, None, None]
    assert frame["mass.2"].to_list()[:3] == pytest.approx([0.2, 0.4, 0.6])
    members = history.members()
    assert members["steps"].to_list() == [2, 0]
    assert members["solved_at"].to_list() == [2, None]
    assert members["diverged"].to_list() == [False, True]


def test_steps_are_those_that_a_member_took(history):
    assert history.steps_taken(1).tolist() == [2, 0]
    assert history.steps_taken(2).tolist() == [0, 0]
    one = dataclasses.replace(history, stage=np.array([1, 1, 1]), step=np.array([0, 25, 50]))
    assert one.steps_taken().tolist() == [50, 0]


def test_it_prints_itself(history):
    out = io.StringIO()
    Console(file=out, width=100).print(history)
    assert "stage 1, 0 to 2 steps" in out.getvalue()
    assert "2 members" in out.getvalue()
    assert "0.25" in out.getvalue()


def test_a_level_that_a_stage_does_not_have_hides_nothing(history):
    levels = np.array([[[0.5, NAN], [0.9, NAN], [NAN, NAN]]] * 2, np.float32)
    padded = dataclasses.replace(history, metrics={"levels": levels}, diverged=np.array([False, False]))
    np.testing.assert_array_equal(padded.last("levels")[:, 0], np.float32([0.9, 0.9]))


def test_histories_share_a_picture(trained):
    figure = trained.history.plot("own.loss", label="one", log=True)
    axes = figure.axes[0]
    trained.history.plot("own.loss", ax=axes, label="two", log=True)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    assert axes.get_yscale() == "log"
    with pytest.raises(SpecError, match="a metric is one of"):
        trained.history.plot("own.los")


def test_a_directory_that_hides_an_array_is_noticed(history, tmp_path):
    """A turned bit may make one entry's comment swallow the entries after it, and zip readers say nothing."""
    path = history.save(tmp_path / "h.npz")
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\x01\x02", content.rindex(b"metric:loss") - 60)
    following = content.index(b"PK\x01\x02", entry + 4)
    content[entry + 32 : entry + 34] = (content.index(b"PK\x05\x06") - following).to_bytes(2, "little")
    path.write_bytes(content)
    with pytest.raises(SpecError, match="metric:mass"):
        History.load(path)


def test_a_history_without_a_list_is_read(history, tmp_path):
    """Files of earlier versions."""
    with np.load(history.save(tmp_path / "h.npz")) as stored:
        arrays = {name: stored[name] for name in stored.files if name != "arrays"}
    np.savez_compressed(tmp_path / "old.npz", **arrays)
    same(History.load(tmp_path / "old.npz"), history)


def test_stage_lines_stand_where_stages_begin():
    stages, steps = np.repeat([1, 2, 3], 3), np.array([0, 2, 4, 4, 6, 8, 8, 9, 10])
    one, none = np.zeros(1, int), np.zeros(1, bool)
    whole = History(one, stages, steps, {"loss": np.ones((1, 9), np.float32)}, one, one, none, none, one[:, None])
    [axes] = whole.plot("loss").axes
    lines = [line.get_xdata() for line in axes.lines]
    assert [float(found[0]) for found in lines if len(found) == 2] == [4.0, 8.0]
