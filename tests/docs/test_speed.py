"""docs/speed.md is what the records say, and short."""

import json
import re
from pathlib import Path

import growth_page
import page
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "speed.md").read_text()
CPU = {"device": "cpu", "cores": 2}


def test_the_page_is_generated_from_the_records():
    """python bench/page.py"""
    assert page.page() == PAGE


def test_the_page_is_short():
    assert len(PAGE.replace("|", " ").split()) <= 3_000


def test_the_site_shows_the_page():
    assert "../speed.md" in (ROOT / "docs" / "site" / "speed.md").read_text()


def test_a_time_and_a_rate_become_rows():
    time = page.Row("epoch", "2 CPU cores", 0.0051176, 0.035463, None)
    rate = page.Row("GPT", "NVIDIA H200", 752_488.1, 86_481.8, 98_482.1, unit="/s")
    assert page.table([time, rate]).splitlines()[2:] == [
        "| epoch | 2 CPU cores | 5.12 ms | 35.5 ms | 6.9 x |  |  |",
        "| GPT | NVIDIA H200 | 752,488/s | 86,482/s | 8.7 x | 98,482/s | 7.6 x |",
    ]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(3.596, "s", "3.60 s"), (12.375, "s", "12.4 s"), (0.6591, "s", "659 ms"), (8.19e-5, "s", "0.0819 ms"),
     (1276.4, "s", "1,276 s"), (1_375_016.9, "/s", "1,375,017/s")],
)  # fmt: skip
def test_quantities(value, unit, text):
    assert page.quantity(value, unit) == text


def test_eager_pytorch_takes_one_seed_after_another():
    record = CPU | {"torch": {"seconds": 1.5}, "torch.compile": None, "sorites": [{"seeds": 8, "seconds": 0.5}],
                    "process": {"sorites, empty cache": 3.6, "sorites, again": 1.8, "torch": 3.6}}  # fmt: skip
    assert [row.cells()[2:] for row in page.log_icot_rows(record)] == [
        ["500 ms", "12.0 s", "24.0 x", "", ""],
        ["3.60 s", "3.60 s", "1.0 x", "", ""],
        ["1.80 s", "3.60 s", "2.0 x", "", ""],
    ]


def test_every_growth_curve_has_a_row():
    records = growth_page.read_records()
    curves = {(record["device"], point["curve"], point["series"]) for record in records for point in record["points"]}
    rows = re.findall(r"^\| (?:2 CPU|NVIDIA)", growth_page.growth_section(records), re.MULTILINE)
    assert len(rows) == len(curves)


def test_a_roofline_is_the_fraction_of_the_fastest_product():
    point = {"curve": "width", "series": "one member", "at": 64, "seconds": 0.5, "flops": 1e9}
    slow, fast = ({"flops": flops, "bytes": 1.0} for flops in (4e9, 8e9))
    record = CPU | {"limits": {"before": slow, "after": fast}, "points": [point]}
    assert growth_page.roofline_section([record]).endswith("| 64 | 25 % |\n")


def test_recorded_ratios_are_those_of_the_recorded_rates():
    record = json.loads((ROOT / "results" / "bench-wen-h200.json").read_text())
    rows = [row for row in record["sequences per second, width 720"].values() if "torch" in row]
    assert len(rows) == 4
    for row in rows:
        for side in page.SIDES:
            assert row[f"ratio to {side}"] == pytest.approx(row["sorites"] / row[side])
