"""The static shape of a chain: how many inputs, which thought stands on which level."""

import dataclasses
import functools

from ..errors import require

MOST = 1_000_000  # positions


@dataclasses.dataclass(frozen=True)
class Layout:
    """Fixes every array shape, so there is one compiled program per layout.

    Positions are 0-based: inputs first, then the thoughts, bottom to top. Inputs are level 0.
    A tree of 4 secret bits among 8 inputs: levels (1, 1, 2), ends (8, 10, 11).
    """

    inputs: int
    levels: tuple[int, ...]  # level of each thought, non-decreasing, from 1
    slots: int = 1  # tokens per position

    def __post_init__(self):
        require(
            self.positions <= MOST and self.thoughts * self.positions <= 1000 * MOST,
            f"a chain has at most {MOST:,} positions, and times its thoughts at most {1000 * MOST:,}: "
            f"inputs={self.inputs}, thoughts={self.thoughts}; use fewer",
        )
        assert list(self.levels) == sorted(self.levels)
        assert set(self.levels) == set(range(1, self.depth + 1))

    @property
    def thoughts(self) -> int:
        return len(self.levels)

    @property
    def positions(self) -> int:
        return self.inputs + self.thoughts

    @property
    def depth(self) -> int:
        return max(self.levels)

    @functools.cached_property
    def ends(self) -> tuple[int, ...]:
        """ends[l]: number of positions up to and including level l (LI's n_{l+1}, KS's d_l, RS's N_l)."""
        counts = [sum(level <= top for level in self.levels) for top in range(self.depth + 1)]
        return tuple(self.inputs + count for count in counts)

    @functools.cached_property
    def position_levels(self) -> tuple[int, ...]:
        return (0,) * self.inputs + self.levels
