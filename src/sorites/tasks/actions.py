"""Groups acting on finite sets, as permutation tables: `table[g, y]` is g(y)."""

import dataclasses
import functools
import re

import numpy as np
from jaxtyping import Int

from ..errors import require
from . import groups
from .groups import Group


@dataclasses.dataclass(frozen=True, eq=False)
class Action:
    """A group, if there is one, and where each element sends each value; checked at construction.

    S5 on five values: 120 rows of 5. A table of one's own may list permutations that form no group.
    """

    name: str
    table: Int[np.ndarray, "action value"]
    group: Group | None = None

    def __post_init__(self):
        require(self.table.ndim == 2 and self.table.size > 0, f"an action is a table: action={self.name}; fill it")
        rows = (np.sort(self.table, axis=1) == np.arange(self.table.shape[1])).all()
        require(bool(rows), f"each row of an action permutes the values: action={self.name}; correct the table")
        if self.group is not None:
            require(self.group.order == len(self.table), f"one row per element: action={self.name}; give as many rows")
            product, rows = self.group.product, np.arange(self.group.order)
            follows = all((self.table[product[g]] == self.table[g][self.table[rows]]).all() for g in rows)
            require(follows, f"an action respects the product, (gh)(y) = g(h(y)): action={self.name}; correct it")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Action) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @functools.cached_property
    def _identity(self) -> tuple[str, tuple[int, ...], bytes]:
        return self.name, self.table.shape, self.table.astype(np.int64).tobytes()

    @property
    def actions(self) -> int:  # n_G
        return self.table.shape[0]

    @property
    def values(self) -> int:  # n_Y
        return self.table.shape[1]

    @property
    def transitive(self) -> bool:
        """Some action leads from every value to every other."""
        return bool((self.fibre_sizes() > 0).all())

    @property
    def free(self) -> bool:
        """Only the identity fixes a value."""
        return bool(((self.table == np.arange(self.values)).sum(axis=0) <= 1).all())

    @property
    def simply_transitive(self) -> bool:
        return self.transitive and self.free

    def fibre(self, value: int, goal: int) -> Int[np.ndarray, " some"]:
        """The actions that send `value` to `goal`: Fiber_{j,y} of the paper."""
        return np.flatnonzero(self.table[:, value] == goal)

    def stabiliser(self, value: int) -> Int[np.ndarray, " some"]:
        return self.fibre(value, value)

    def fibre_sizes(self) -> Int[np.ndarray, "goal value"]:
        goals = np.arange(self.values)
        return (self.table[None] == goals[:, None, None]).sum(axis=1)

    def distractor_fraction(self) -> float:
        """Chance that an independent uniform action also sends y to g(y), over uniform g and y."""
        return float((self.fibre_sizes() ** 2).sum() / (self.values * self.actions**2))

    def conjugated(self, relabelling: Int[np.ndarray, " value"]) -> "Action":
        """The same action with the values renamed: y becomes relabelling[y]."""
        renamed = np.empty_like(self.table)
        renamed[:, relabelling] = relabelling[self.table]
        return Action(f"{self.name}~", renamed, self.group)


def natural(group: Group, permutations: Int[np.ndarray, "element point"]) -> Action:
    return Action(group.name, permutations, group)


def on_itself(group: Group) -> Action:
    """Left multiplication: always simply transitive."""
    return Action(f"{group.name}/itself", group.product, group)


def on_cosets(group: Group, elements: Int[np.ndarray, " some"]) -> Action:
    """On the left cosets gH of the subgroup H that the elements generate."""
    subgroup = group.generated(elements)
    cosets = group.product[:, subgroup].min(axis=1)  # each coset by its least element
    labels, number = np.unique(cosets, return_inverse=True)
    return Action(f"{group.name}/{len(subgroup)}", number[group.product[:, labels]], group)


def with_synonyms(action: Action, copies: int) -> Action:
    """Every action under `copies` names: more action tokens, the same moves."""
    require(copies >= 1, f"an action has one name or more: copies={copies}; use 1 or more")
    return Action(f"{action.name}*{copies}", np.tile(action.table, (copies, 1)))


def subset(action: Action, count: int, seed: int = 0) -> Action:
    """`count` of the actions, drawn at random."""
    require(1 <= count <= action.actions, f"a subset has 1..{action.actions} actions: count={count}; use fewer")
    rows = np.sort(np.random.default_rng(seed).choice(action.actions, count, replace=False))
    return Action(f"{action.name}[{count}]", action.table[rows])


MAKERS = {"C": groups.cyclic, "D": groups.dihedral, "S": groups.symmetric, "A": groups.alternating}


@functools.cache
def group_named(name: str) -> Group:
    """C6, D4, S5, A5, Q8, and products such as C2xC3."""
    found: Group | None = None
    for factor in name.split("x"):
        match = re.fullmatch(r"([CDSA])(\d+)|Q8", factor)
        require(match is not None, f"groups are C6, D4, S5, A5, Q8 or products C2xC3: group={name!r}; use one of these")
        assert match is not None
        one = MAKERS[match[1]](int(match[2])) if match[1] else groups.quaternion()
        found = one if found is None else groups.direct(found, one)
    assert found is not None
    return found


@functools.cache
def action_named(name: str) -> Action:
    """C6; S5 on five values; D4 on the square's corners; S3/itself; products and Q8 act on themselves.

    `C6*20` gives every action 20 names; `S5[6]` keeps six actions of S5.
    """
    if match := re.fullmatch(r"(.+)\*(\d+)", name):
        return with_synonyms(action_named(match[1]), int(match[2]))
    if match := re.fullmatch(r"(.+)\[(\d+)\]", name):
        return subset(action_named(match[1]), int(match[2]))
    family, _, where = name.partition("/")
    require(where in ("", "itself"), f"an action is GROUP or GROUP/itself: action={name!r}; use one of these")
    group = group_named(family)
    if where:
        return on_itself(group)
    points = int(family[1:]) if re.fullmatch(r"[DSA]\d+", family) else 0
    if family[0] == "D" and points:
        return natural(group, groups.polygon(points))
    if points:
        return natural(group, groups.permutations_of(points, even=family[0] == "A"))
    return Action(family, group.product, group)
