"""RL against SFT."""

import re

import numpy as np
import polars as pl

from findings.finding import Finding, Table, count, frame, measured, recorded, require


def levels() -> Table:
    found, rows = measured("RS-15"), []
    for gate in ("parity", "and", "or"):
        names = ("exact levels after T-1 updates", "exceptions to one level per update")
        errors = ("largest column error after T-1 updates ≤", "largest column error after T updates ≤")
        rows.append([gate.upper(), *(count(found[f"{gate}: {name}"]) for name in names)])
        rows[-1] += [f"{found[f'{gate}: {name}']:.1e}" for name in errors]
    head = ["gate", "levels exact after T-1 updates", "exceptions to one level per update"]
    return [*head, "column error after T-1", "column error after T"], rows


def levels_values() -> dict[str, str]:
    require(measured("RS-8")["levels and steps without separation"] == 0, "RL separates on every level")
    require(all(row[2] == "0" for row in levels()[1]), "one level per update")
    return {}


def shares(figure: str, axis: str, head: str, form: str) -> Table:
    """The share of secrets that are learned: a row per supervision, a column per size."""
    data = frame(figure)
    sizes = sorted(data[axis].unique())
    rows = []
    for way in data["way"].unique(maintain_order=True):
        found = dict(data.filter(way=way).select(axis, "success").rows())
        rows.append([way, *(f"{found[size]:.3f}" for size in sizes)])
    return [head, *(format(size, form) for size in sizes)], rows


def finite_samples() -> Table:
    return shares("rl-sft/finite-samples", "samples", "chains per update", ",.0f")


def secrets(figure: str):
    def values() -> dict[str, str]:
        return {"secrets": count(frame(figure)["seeds"].max())}  # pyright: ignore

    return values


def finite_values() -> dict[str, str]:
    found = {row[0]: row[1:] for row in finite_samples()[1]}
    require(found["RL, Rao-Blackwell"] == found["SFT, teacher forcing"], "Rao-Blackwell equals teacher forcing")
    require(float(found["RL, REINFORCE"][-1]) < 0.1, "plain REINFORCE fails at every size")
    return secrets("rl-sft/finite-samples")()


def label_noise() -> Table:
    return shares("rl-sft/label-noise", "noise", "share of flipped labels", "g")


def chains() -> Table:
    rows = []
    for name, value in measured("RS-37").items():
        match = re.match(r"(.*), d=(\d+), ([\d,]+) chains \((.*) wrong signs expected\)", name)
        if match:
            rows.append([*match.groups(), count(value)])
    return ["supervision", "d", "chains", "wrong signs expected", "seeds exact of 40"], rows


def flow() -> Table:
    rows = []
    for each in recorded("bench-rl-sft-h200")[
        "four steps of gradient flow, k=16: times to 0.4 against each step alone"
    ]:
        for level, (time, total) in enumerate(zip(each["measured"], np.cumsum(each["alone"]), strict=True), 1):
            rows.append([str(each["bits"]), str(level), count(time), count(total), f"{time / total:.2f}"])
    return ["d", "level", "time to reach it", "sum of the levels' own times", "ratio"], rows


def noisy() -> dict[str, str]:
    data = frame("rl-sft/label-noise").filter(pl.col("way") == "RL, REINFORCE")
    require((data["success"] == 0).all(), "plain REINFORCE fails without noise too")
    return secrets("rl-sft/label-noise")()


FINDINGS = [
    Finding(
        "The population dynamics",
        "With exact gradients RL separates on every level after one update. SFT on its own thoughts learns "
        "one level per update. Theorem 3.3 states T updates; one fewer already meets its bound here, which "
        "does not contradict it.",
        levels,
        ("RS-8", "RS-15"),
        levels_values,
    ),
    Finding(
        "From finitely many chains",
        "The table gives the share of {secrets} secrets whose whole chain is learned. Rao-Blackwell's "
        "estimate averages over the sampled token, and agrees with teacher forcing at every size; it is not "
        "sampled RL. Plain REINFORCE samples one trajectory per input here, and learns few of them even at "
        "the largest size.",
        finite_samples,
        ("RS-13", "rl-sft/finite-samples"),
        finite_values,
        "rl-sft/finite-samples",
    ),
    Finding(
        "How many chains one update needs",
        "The law counts the wrong signs of level one; levels above are learned from the same chains. RL means "
        "Rao-Blackwell's estimate here, which is not sampled RL.",
        chains,
        ("RS-37",),
    ),
    Finding(
        "Flipped labels",
        "The table gives the share of {secrets} secrets that are learned. Plain REINFORCE, with one "
        "trajectory per input, fails without noise too.",
        label_noise,
        ("rl-sft/label-noise",),
        noisy,
        "rl-sft/label-noise",
    ),
    Finding(
        "Gradient flow, level after level",
        "The time to reach a level is close to the sum of the times that it and the levels below take alone.",
        flow,
        (),
        record="bench-rl-sft-h200.json",
    ),
]
