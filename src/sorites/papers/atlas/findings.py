"""What the atlas found, in sentences made from its tables: numbers, intervals, and verdicts that the intervals decide."""

from typing import Any

import numpy as np

from ...statistics import wilson
from ..figure import Frames
from .settings import SHUFFLED, SIZES, Internalising, Matrix, Rewarded
from .tables import summary

Row = dict[str, Any]
CONTRASTS = (("log-icot", "direct"), ("process-reward", "outcome-reward"))


def findings(records: dict[str, Frames]) -> list[str]:
    """The sentences of the page, from what is recorded: the map of the quick cells, two contrasts of the larger ones, and
    the two comparisons."""
    found = []
    if "cells-quick" in records:
        found.append(_map(_trained(records["cells-quick"])))
    name = "cells" if "cells" in records else "cells-quick"
    if name in records:
        size = SIZES["cells"]["paper" if name == "cells" else "quick"]
        found += [_against(_trained(records[name]), size, *pair) for pair in CONTRASTS]
    if "gpt-icot" in records:
        found.append(find_icot(records["gpt-icot"], SIZES["gpt-icot"]["paper"]))
    if "lego-rl" in records:
        found.append(find_rl(records["lego-rl"], SIZES["lego-rl"]["paper"]))
    return found


def find_cells(frames: Frames, size: Matrix) -> str:
    rows = _trained(frames)
    said = [_map(rows), *(_against(rows, size, *pair) for pair in CONTRASTS)]
    return " ".join(each for each in said if each)


def _trained(frames: Frames) -> list[Row]:
    return [row for row in summary(frames) if row["members"]]


def _map(rows: list[Row]) -> str:
    """How many cells work, and that nothing is learned where there is nothing to learn."""
    taught = [row for row in rows if row["labels"][2] != SHUFFLED]
    works, never = sum(row["low"] > 0.5 for row in taught), sum(row["solved"] == 0 for row in taught)
    said = f"{works} of {len(taught)} cells bring most of their {rows[0]['members']} members to the goal, {never} bring none"
    control = [row for row in rows if row["labels"][2] == SHUFFLED]
    if not control:
        return f"{said}."
    right, all_of_them = (sum(row[name] for row in control) for name in ("solved", "members"))
    return f"{said}; on shuffled labels {right} of {all_of_them} members come there ({_between(right, all_of_them)})."


def _against(rows: list[Row], size: Matrix, one: str, other: str) -> str:
    """Two supervisions of the same task, model by model; told apart where their intervals do not meet."""
    found = {row["labels"]: row for row in rows if row["labels"][0] == "parity"}
    pairs = [(found[task, model, one], found[task, model, other]) for task, model, name in found
             if name == one and (task, model, other) in found]  # fmt: skip
    if not pairs:
        return ""
    each = "; ".join(f"{first['labels'][1]} {_count(first)} against {_count(second)}" for first, second in pairs)
    more = [first["labels"][1] for first, second in pairs if first["low"] > second["high"]]
    less = [first["labels"][1] for first, second in pairs if first["high"] < second["low"]]
    verdict = [f"more for {', '.join(more)}"] * bool(more) + [f"fewer for {', '.join(less)}"] * bool(less)
    rest = len(pairs) - len(more) - len(less)
    verdict += [f"not told apart for {rest} of {len(pairs)} models"] * bool(rest)
    return f"Parity of {size.sparsity} among {size.bits}, {one} against {other}: {each}; {', '.join(verdict)}."


def find_icot(frames: Frames, size: Internalising) -> str:
    rows = {row["labels"][0]: row for row in summary(frames)}
    said = f"One pass, at the goal (95 % intervals in brackets): {'; '.join(map(_told, rows.values()))}"
    if not {"log-icot", "padded"} <= set(rows):
        return f"{said}."
    staged, answer = rows["log-icot"], rows["padded"]
    stages = int(np.log2(size.sparsity))
    if staged["low"] > answer["high"]:
        verdict = f"in log2 k = {stages} stages a GPT internalises what the answer alone does not teach it"
    elif staged["low"] > 0.5:
        verdict = f"in log2 k = {stages} stages a GPT internalises the chain, and the answer alone may do as well"
    elif staged["high"] < 0.5:
        verdict = f"in log2 k = {stages} stages most members of a GPT do not internalise the chain within the budget"
    else:
        verdict = (
            f"whether a GPT internalises in log2 k = {stages} stages cannot be told from {staged['members']} members"
        )
    return f"{said}: {verdict}."


def find_rl(frames: Frames, size: Rewarded) -> str:
    rows = {row["labels"]: row for row in summary(frames)}
    scratch = [row for labels, row in rows.items() if labels[1] == "from scratch"]
    later = [row for labels, row in rows.items() if labels[1] != "from scratch"]
    said = "; ".join(f"{row['labels'][0]} {_count(row)}{_price(row)}" for row in scratch)
    found = f"LEGO's decoder from scratch, own answers at the goal (95 % intervals in brackets): {said}."
    if not later:
        return found
    # Who reached the goal while it was still taught by forcing owes nothing to what came after.
    data = frames["data"].filter(frames["data"]["label2"] != "from scratch")
    early = int((data["solved_at"].fill_null(2**40) <= size.forced).sum())
    if early == data.height:
        return f"{found} {size.forced} steps of teacher forcing bring all {early} members there before anything else is tried."
    after = "; ".join(f"{row['labels'][0]} {_count(row)}" for row in later)
    return f"{found} After {size.forced} steps of teacher forcing, by which {early} of {data.height} members stood at the goal: {after}."


def _between(right: int, members: int) -> str:
    low, high = wilson(right, members)
    return f"{low:.2f} to {high:.2f}"


def _count(row: Row) -> str:
    return f"{row['solved']} of {row['members']} ({row['low']:.2f} to {row['high']:.2f})"


def _price(row: Row) -> str:
    """The median number of chains with its interval, where half came to the goal."""
    middle = row["median"]
    if not np.isfinite(middle.value):
        return ""
    low, high = middle.interval
    span = f", {low:,.0f} to {high:,.0f}" if np.isfinite(high) and low > 0 else ""
    return f" after {middle.value:,.0f} chains{span}"


def _told(row: Row) -> str:
    return f"{', '.join(row['labels'])} {_count(row)}{_price(row)}"
