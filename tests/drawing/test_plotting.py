"""Figures carry their origin, tolerate missing members, and leave matplotlib as they found it."""

import subprocess
import sys
import threading
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from PIL import Image

from sorites.drawing import COLOURS, LOOK, band, new_figure, pdf_metadata, save, stage_lines, style

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
