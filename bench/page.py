"""Write docs/speed.md and its pictures, docs/cells.md, and the README's table of speed, from the records in results/.

    python bench/page.py

The README's table is replaced where the markers `<!-- speed -->` and `<!-- /speed -->` are.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

import growth_page

from sorites.report.cells import markdown

ROOT = Path(__file__).parents[1]
RECORDS = (
    *(f"bench-{paper}-{where}" for paper in ("log-icot", "kim-suzuki") for where in ("cpu", "h200")),
    "bench-rl-sft-cpu",
    *(f"bench-{paper}-{where}" for paper in ("wen", "lego") for where in ("cpu", "h200")),
    "growth-cpu",
    "growth-h200",
)
SIDES = ("torch", "torch.compile")  # the same code, eager and compiled
METHODS = {"forced": "teacher forcing", "free": "own chain", "direct": "answer alone"}
GPTS = {  # of width 720: name in the record -> name in the table
    "1L1H, TF32": "1 layer, with the chain",
    "1L1H, TF32, 8 members": "1 layer, with the chain, 8 members side by side",
    "1L1H without the chain, TF32": "1 layer, without the chain",
    "1L1H without the chain, TF32, 8 members": "1 layer, without the chain, 8 members side by side",
    "4L4H, TF32": "4 layers, with the chain",
    "4L4H, bf16": "4 layers, with the chain, bf16 products",
}
HEADER = "| | machine | sorites | PyTorch | ratio | compiled | ratio |\n|---|---|---|---|---|---|---|"
INTRODUCTION = """\
# Speed

The table compares sorites with a plain PyTorch loop for the same work. *PyTorch* is that loop in eager mode,
*compiled* is the same loop under `torch.compile`. A ratio above 1 means that sorites is faster. `/s` is training
sequences per second, summed over members. A row without PyTorch was timed for sorites only.

`bench/page.py` writes this page from the records in `results/`.

## Side by side with PyTorch
"""
METHOD = """\
## Method

1. Both sides do the same work with the same model and batch size. The rows of log-icot and wen include evaluations.
2. Both sides of a row were timed in one run of one script, on one machine.
3. Programs are compiled before the clock starts, on both sides.
4. The rows *in a new process* are the exception: they time a process from start to end, with imports and compilation.
5. Most times are medians over repeats; the script of a row (`bench/`) says how it repeats.
6. PyTorch trains seeds one after another: its time for eight seeds is eight times its time for one.
7. Part of a ratio can come from the algorithm:
   - In a LEGO rollout sorites caches keys and values; the PyTorch loop reads the whole prefix for every answer.
   - In kim-suzuki the PyTorch loop applies the transformer to its own output in several passes, as the paper does;
     sorites computes each thought once.
   - In wen the last layer of sorites computes only the supervised positions, and prefixes that sequences of a batch
     share are computed once.
8. On the H200 float32 products are TF32 on both sides, and bf16 products are compared with bf16 autocast. The wen
   rows there log attention entropy, and the compiled loop uses a fused Adam.
9. To measure the CPU rows again, run `make bench` (needs PyTorch). `--out FILE.json` keeps the record of a script.
10. Expect other times on another machine, and compare the ratios.

The notebook of earlier trials is `docs/history/speed.md`.

The records, with the commit and the versions that they were made with:
"""
MEMORY = """\
## Memory

Members that run one after another need little more memory than one. The table gives the peak memory of a
process that trains kim-suzuki at full size, its program compiled before.
"""
FIRST = """\
## Time to a first result

A new GPT has to be compiled before it trains. The table gives the time from the call of `train` to the first
evaluation after training steps, compilation included, for wen's GPT of width 720.
"""


class Row(NamedTuple):
    """One line of the comparison.

    Attributes:
        work: what is timed.
        machine: where.
        ours: the time or rate of sorites.
        torch: that of PyTorch in eager mode; None if it was not measured.
        compiled: that of PyTorch under `torch.compile`; None if it was not measured.
        unit: "s" for a time, "/s" for a rate.
    """

    work: str
    machine: str
    ours: float
    torch: float | None = None
    compiled: float | None = None
    unit: str = "s"

    def cells(self) -> list[str]:
        """The cells of the table: times or rates, each of PyTorch's with its ratio."""
        cells = [self.work, self.machine, quantity(self.ours, self.unit)]
        for other in (self.torch, self.compiled):
            if other is None:
                cells += ["", ""]
            else:
                ratio = other / self.ours if self.unit == "s" else self.ours / other
                cells += [quantity(other, self.unit), f"{ratio:.1f} x"]
        return cells


def quantity(value: float, unit: str) -> str:
    """A time with three digits (below a second in milliseconds), or a rate without decimals."""
    if unit == "s" and value < 1:
        value, unit = 1e3 * value, "ms"
    number = f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"
    return number + (unit if unit == "/s" else f" {unit}")


def read_record(name: str) -> dict:
    return json.loads((ROOT / "results" / f"{name}.json").read_text())


def log_icot_rows(record: dict) -> list[Row]:
    """The AdamW experiment by number of seeds, and one seed in a new process."""
    machine, rows = growth_page.device(record), []
    for each in record["sorites"]:
        seeds = each["seeds"]
        others = (record[side]["seconds"] * seeds if record.get(side) else None for side in SIDES)
        work = f"log-icot: AdamW experiment, {seeds:,} seed{'s' if seeds > 1 else ''}"
        rows.append(Row(work, machine, each["seconds"], *others))
    for key, state in (("sorites, empty cache", "nothing compiled before"), ("sorites, again", "programs on disk")):
        if key in record.get("process", {}):
            work = f"log-icot: 1 seed in a new process, {state}"
            rows.append(Row(work, machine, record["process"][key], record["process"].get("torch")))
    return rows


def kim_suzuki_rows(record: dict) -> list[Row]:
    """A full-batch epoch by method."""
    size = f"d={record['bits']}, k={record['sparsity']}, n={record['samples']:,}"
    return [
        Row(f"kim-suzuki: full-batch epoch, {size}, {METHODS[method]}", growth_page.device(record),
            each["sorites"], *(each.get(side) for side in SIDES))
        for method, each in record["lessons"].items()
    ]  # fmt: skip


def kim_suzuki_h200_row(record: dict) -> Row:
    """All trainings of the experiment, compiled before."""
    seconds = sum(value for name, value in record["seconds"].items() if re.fullmatch(r"exp-.*, again", name))
    return Row("kim-suzuki: all three k, four methods, 16 secrets", growth_page.device(record), seconds)


def rl_sft_rows(record: dict) -> list[Row]:
    """The sampled gradient, and the exact one by two sizes."""
    machine, ours = growth_page.device(record), record["sorites"]
    sampled = f"rl-sft: REINFORCE gradient, d=20, k=16, {record['samples']:,} chains"
    others = (record[side]["seconds"] if side in record else None for side in SIDES)
    return [Row(sampled, machine, ours["REINFORCE, step"]["seconds"], *others)] + [
        Row(f"rl-sft: exact gradient by {name}", machine, each["seconds"])
        for name, each in ours.items()
        if name.startswith("count chain")
    ]


def wen_rows(record: dict) -> list[Row]:
    """Training rates of the GPT on a CPU, the best of the repeats."""
    machine, size, rows = growth_page.device(record), record["size"], []
    for key, chain in (("with the chain", "with the chain"), ("without", "without the chain")):
        best = [max(record[key][side]) for side in ("sorites", *SIDES)]
        work = f"wen: GPT, width {size['width']}, {size['layers']} layer, {chain}"
        rows.append(Row(work, machine, *best, unit="/s"))
    return rows


def wen_h200_rows(record: dict) -> list[Row]:
    """Training rates of GPTs of width 720."""
    machine, rows = growth_page.device(record), []
    for name, work in GPTS.items():
        rates = record["sequences per second, width 720"][name]
        others = (rates.get(side) for side in SIDES)
        rows.append(Row(f"wen: GPT, width 720, {work}", machine, rates["sorites"], *others, unit="/s"))
    return rows


def lego_rows(record: dict) -> list[Row]:
    """A rollout and a training step of the decoder."""
    machine, ours, theirs = growth_page.device(record), record["sorites"], record["torch"]
    rollout = f"lego: rollout of {record['sentences']} sentences, L={record['length']}"
    return [
        Row(rollout, machine, ours["rollout"]["seconds"], theirs["rollout"]["seconds"]),
        Row("lego: training step", machine, ours["training"]["seconds"], *(theirs["training"][side] for side in SIDES)),
    ]


def rows() -> list[Row]:
    """Every comparison that is recorded."""
    return [
        *log_icot_rows(read_record("bench-log-icot-cpu")),
        *log_icot_rows(read_record("bench-log-icot-h200")),
        *kim_suzuki_rows(read_record("bench-kim-suzuki-cpu")),
        kim_suzuki_h200_row(read_record("bench-kim-suzuki-h200")),
        *rl_sft_rows(read_record("bench-rl-sft-cpu")),
        *wen_rows(read_record("bench-wen-cpu")),
        *wen_h200_rows(read_record("bench-wen-h200")),
        *lego_rows(read_record("bench-lego-cpu")),
        *lego_rows(read_record("bench-lego-h200")),
    ]


def table(chosen: list[Row]) -> str:
    return "\n".join([HEADER, *(f"| {' | '.join(row.cells())} |" for row in chosen), ""])


def records_table() -> str:
    lines = ["| record | machine | commit | JAX | PyTorch |", "|---|---|---|---|---|"]
    for name in RECORDS:
        record = read_record(name)
        versions = record.get("versions", record)
        torch = (versions.get("torch") or "") if "growth" not in name else ""
        cells = [f"`{name}.json`", growth_page.device(record), record["commit"][:7], versions["jax"], torch]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def memory_section() -> str:
    peak = read_record("bench-kim-suzuki-cpu")["peak MiB"]
    lines = [MEMORY, "| members | peak memory |", "|---|---|"]
    return "\n".join([*lines, *(f"| {members} | {mib:.0f} MiB |" for members, mib in peak.items()), ""])


def first_result_section() -> str:
    found = read_record("bench-wen-h200")["sequences per second, width 720"]
    lines = [FIRST, "| GPT | NVIDIA H200 |", "|---|---|"]
    return "\n".join(
        [*lines, *(f"| {work} | {found[name]['first result, s']:.1f} s |" for name, work in GPTS.items()), ""]
    )


def page() -> str:
    """The text of docs/speed.md."""
    grown = growth_page.read_records()
    sections = [INTRODUCTION, table(rows()), METHOD, records_table(), memory_section(), first_result_section(),
                growth_page.growth_section(grown), growth_page.roofline_section(grown)]  # fmt: skip
    return "\n".join(sections)


def main() -> None:
    grown = growth_page.read_records()
    growth_page.draw_growth(grown)
    growth_page.draw_roofline(grown)
    (ROOT / "docs" / "speed.md").write_text(page())
    (ROOT / "docs" / "cells.md").write_text(markdown())


if __name__ == "__main__":
    main()
