"""Exact population laws of a Log-ICoT stage with the cosine link, for any bits and sparsity.

At the start of stage t a thought m of level t attends uniformly to the N = n_t positions below it, and
layers 1..t-1 are taken as exact. With S the sum of these N signs, z = S/N and phi(z) = -cos(pi z), every
expectation is a value of E[exp(iaS) x_j b_m], which factorises over the subtrees under level t. Level 1
is the law of exchangeable keys (spec KS-15); at higher levels the tree correlations enter exactly.
"""

import dataclasses
import math

import numpy as np

CURVATURE = math.pi**2 / 2  # c of the cosine link


def keys_of_stage(bits: int, sparsity: int, stage: int) -> int:
    """n_t = n + k(1 - 2^{-(t-1)}): positions that stage t attends to (log-icot Sec. 2.1)."""
    return bits + sparsity - sparsity // 2 ** (stage - 1)


def _subtree(angle: float, height: int, marked: int | None) -> tuple[complex, complex]:
    """(A(+1), A(-1)): A(v) = E[exp(ia * sum of all nodes) * x_marked; root = v], the mark on one node of the
    given level, or on none."""
    values = (1, -1)
    if height == 0:
        leaf = [np.exp(1j * angle * v) / 2 * (v if marked == 0 else 1) for v in values]
        return leaf[0], leaf[1]
    plain = _subtree(angle, height - 1, None)
    first = _subtree(angle, height - 1, marked) if marked is not None and marked < height else plain
    pairs = (first[0] * plain[0] + first[1] * plain[1], first[0] * plain[1] + first[1] * plain[0])
    root = [
        np.exp(1j * angle * v) * pair * (v if marked == height else 1) for v, pair in zip(values, pairs, strict=True)
    ]
    return root[0], root[1]


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a key stands relative to the query m: how many such keys, on which level, under m or not."""

    name: str
    count: int
    level: int | None  # None: an input outside the secret
    under: bool  # in the subtree of m


def places(bits: int, sparsity: int, stage: int) -> list[Place]:
    """The classes of keys that the stage's law distinguishes; children are the top level under m."""
    found = [Place("idle input", bits - sparsity, None, False)]
    for level in range(stage):
        per_tree, trees = 2 ** (stage - level), sparsity // 2**stage
        found.append(Place("child" if level == stage - 1 else f"under, level {level}", per_tree, level, True))
        found.append(Place(f"elsewhere, level {level}", per_tree * (trees - 1), level, False))
    return [place for place in found if place.count]


def expectation(
    bits: int, sparsity: int, stage: int, angle: float, place: Place | None = None, labelled: bool = False
) -> complex:
    """E[exp(i angle S) x_place b_m^labelled] over uniform inputs."""
    trees, height = sparsity // 2**stage, stage - 1
    plain = _subtree(angle, height, None)
    marked = plain if place is None or place.level is None else _subtree(angle, height, place.level)

    def joined(left: tuple[complex, complex], sign: int) -> complex:
        return left[0] * plain[0] + left[1] * plain[1] + sign * (left[0] * plain[1] + left[1] * plain[0])

    own = joined(marked if place is not None and place.under else plain, -1 if labelled else 1)
    others = joined(plain, 1) ** (trees - 1)
    if place is not None and place.level is not None and not place.under:
        others = joined(marked, 1) * joined(plain, 1) ** (trees - 2)
    idle = np.cos(angle) ** (bits - sparsity)
    if place is not None and place.level is None:
        idle = 1j * np.sin(angle) * np.cos(angle) ** (bits - sparsity - 1)
    return complex(own * others * idle)


def start_loss(bits: int, sparsity: int, stage: int) -> float:
    """Loss at the start of a stage, summed over its level: (k/2^t) (E phi^2 + 1 - 2 E[phi b]) / 2 (LI-21)."""
    angle = math.pi / keys_of_stage(bits, sparsity, stage)
    square = (1 + expectation(bits, sparsity, stage, 2 * angle).real) / 2  # E cos^2
    product = -expectation(bits, sparsity, stage, angle, labelled=True).real  # E[phi b]
    return sparsity / 2**stage * (square + 1 - 2 * product) / 2


def start_gradient(bits: int, sparsity: int, stage: int) -> dict[str, float]:
    """dL/dw_{j,m} at uniform attention, by the place of j: (1/N) E[(phi(z) - b_m) phi'(z) (x_j - z)]."""
    keys, found = keys_of_stage(bits, sparsity, stage), places(bits, sparsity, stage)
    angle = math.pi / keys

    def pull(
        place: Place,
    ) -> float:  # E[(phi - b) phi' x_j], with (phi - b) phi' = -pi sin(2 pi z)/2 - pi b sin(pi z)
        twice = expectation(bits, sparsity, stage, 2 * angle, place).imag
        once = expectation(bits, sparsity, stage, angle, place, labelled=True).imag
        return -math.pi / 2 * twice - math.pi * once

    pulls = {place.name: pull(place) for place in found}
    mean = sum(place.count * pulls[place.name] for place in found) / keys  # E[(phi - b) phi' z]
    return {name: (value - mean) / keys for name, value in pulls.items()}


def signal(bits: int, sparsity: int, stage: int) -> float:
    """Child gradient over the leading term -2c/n_t^2: the s that a calibrated rate divides by."""
    leading = -2 * CURVATURE / keys_of_stage(bits, sparsity, stage) ** 2
    return start_gradient(bits, sparsity, stage)["child"] / leading


def unlabelled_gradient(bits: int, sparsity: int, stage: int) -> dict[str, float]:
    """The part of the gradient that does not see the label, (1/N) E[phi phi' (x_j - z)], by the place of j (KS-16):
    phi phi' = -(pi/2) sin(2 pi z)."""
    keys, found = keys_of_stage(bits, sparsity, stage), places(bits, sparsity, stage)
    pulls = {
        place.name: -math.pi / 2 * expectation(bits, sparsity, stage, 2 * math.pi / keys, place).imag for place in found
    }
    mean = sum(place.count * pulls[place.name] for place in found) / keys
    return {name: (pull - mean) / keys for name, pull in pulls.items()}


def exchangeable_gradient(keys: int) -> tuple[float, float]:
    """Gradient at a child and at another key for N exchangeable keys, s = sin(pi/N), C = cos(pi/N) (KS-15)."""
    sine, cosine = math.sin(math.pi / keys), math.cos(math.pi / keys)
    mean = (2 * sine * cosine ** (keys - 1) - (keys - 2) * sine**3 * cosine ** (keys - 3)) / keys
    child = -(math.pi / keys) * (sine * cosine ** (keys - 1) - mean)
    return child, -(math.pi / keys) * (-(sine**3) * cosine ** (keys - 3) - mean)


def exchangeable_signal(keys: int) -> float:
    """The child's gradient over -2c/N^2 for exchangeable keys: exact at stage 1."""
    return exchangeable_gradient(keys)[0] / (-2 * CURVATURE / keys**2)
