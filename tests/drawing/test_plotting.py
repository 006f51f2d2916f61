"""Figures carry their origin, tolerate missing members, and leave matplotlib as they found it."""

import subprocess
import sys
import threading
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from PIL import Image

from sorites.drawing import COLOURS, LOOK, band, dark, new_figure, pdf_metadata, save, save_dark, stage_lines, style

METADATA = {"Title": "Loss", "spec": "abc123", "commit": "deadbeef", "seeds": "0..31"}


def draw() -> matplotlib.figure.Figure:
    with style():
        figure = new_figure(3, 2)
        band(figure.subplots(), np.arange(5.0), np.arange(20.0).reshape(4, 5), "loss", "blue")
    return figure


def test_png_carries_its_origin(tmp_path: Path) -> None:
    png, pdf = save(draw(), tmp_path / "deep" / "folder", "loss", METADATA)
    with Image.open(png) as image:
        assert METADATA.items() <= image.info.items()
        assert image.size == (480, 320)
    assert pdf.read_bytes().startswith(b"%PDF")
    assert b"spec=abc123; commit=deadbeef; seeds=0..31" in pdf.read_bytes()
    assert sorted(path.name for path in png.parent.iterdir()) == ["loss.pdf", "loss.png"]


def test_same_figure_is_the_same_file(tmp_path: Path) -> None:
    first = [path.read_bytes() for path in save(draw(), tmp_path, "one", METADATA)]
    second = [path.read_bytes() for path in save(draw(), tmp_path, "two", METADATA)]
    assert first == second


def test_pdf_keeps_its_own_fields_apart() -> None:
    fields = pdf_metadata({"Keywords": "parity", "Subject": "Fig. 2", "seeds": "3"})
    assert fields == {"Keywords": "parity; seeds=3", "Subject": "Fig. 2", "CreationDate": None}


def test_band_is_the_median_and_skips_what_was_not_measured() -> None:
    values = np.array([[1.0, np.nan, np.inf], [3.0, np.nan, np.inf], [np.nan, np.nan, 1.0]])
    with style():
        line = band(new_figure().subplots(), np.arange(3.0), values, colour="green")
    middle = np.asarray(line.get_ydata())
    assert middle[0] == 2.0
    assert np.isnan(middle[1])
    assert not np.isfinite(middle[2])  # most members diverged: no finite median is drawn
    assert line.get_color() == COLOURS["green"]


def test_stage_lines_name_every_stage() -> None:
    with style():
        ax = new_figure().subplots()
        stage_lines(ax, [500, 1000])
    assert [text.get_text() for text in ax.texts] == ["stage 1", "stage 2", "stage 3"]
    assert [line.get_linestyle() for line in ax.lines] == ["--", "--"]


def test_style_is_undone_even_after_an_error() -> None:
    before = {key: matplotlib.rcParams[key] for key in LOOK}
    with pytest.raises(RuntimeError, match="halt"), style():
        raise RuntimeError("halt")
    assert {key: matplotlib.rcParams[key] for key in LOOK} == before


def test_threads_draw_and_leave_the_settings_alone(tmp_path: Path) -> None:
    before = matplotlib.rcParams["figure.dpi"]
    threads = [threading.Thread(target=lambda i=i: save(draw(), tmp_path, f"f{i}", {})) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({path.read_bytes() for path in tmp_path.glob("*.png")}) == 1
    assert len(list(tmp_path.iterdir())) == 8
    assert matplotlib.rcParams["figure.dpi"] == before


def test_pyplot_is_never_imported() -> None:
    code = "import sys, sorites.drawing as p; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_dark_figure_swaps_ink_and_ground_and_keeps_hues() -> None:
    light = {name: np.array(matplotlib.colors.to_rgb(name)) for name in ("white", "black", "#E4E3DE")}
    night = {name: np.array(dark(name)[:3]) for name in light}
    assert np.abs(night["white"] - matplotlib.colors.to_rgb("#16181A")).max() < 0.04
    assert night["black"].min() > 0.75
    assert night["#E4E3DE"].max() < 0.3
    for name in ("blue", "vermillion", "green", "orange"):
        before, after = (
            matplotlib.colors.rgb_to_hsv(c[:3]) for c in (matplotlib.colors.to_rgba(COLOURS[name]), dark(COLOURS[name]))
        )
        assert abs(before[0] - after[0]) < 0.05, name


def test_a_heat_map_keeps_its_colours_and_words_stay_readable(tmp_path: Path) -> None:
    with style():
        figure = new_figure(4, 2)
        heat, tree = figure.subplots(1, 2)
        mesh = heat.pcolormesh(np.arange(4.0).reshape(2, 2), cmap="cividis")
        written = heat.text(0.5, 0.5, "0.1", color="white")
        tree.set(xlim=(0, 3), ylim=(0, 1))
        tree.scatter([1], [0.5], s=900, color=COLOURS["sky"])
        over, beside = (tree.text(x, 0.5, "x", ha="center", va="center") for x in (1, 2.4))
    save_dark(figure, tmp_path, "both", {})
    assert mesh.get_cmap().name == "cividis"
    assert written.get_color() == "white"
    assert over.get_color() == "#16181A"
    assert np.min(matplotlib.colors.to_rgb(beside.get_color())) > 0.75
    assert heat.title.get_color() != "black"
