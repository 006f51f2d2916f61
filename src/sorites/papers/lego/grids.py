"""Settings of the decoder figures at paper scale, as `bench/lego_paper_scale.py` runs them."""

import dataclasses

from .arms import ACTIONS, Decoding


@dataclasses.dataclass(frozen=True)
class Separation:
    """Every action under every way of training, then self-training of the S5 members of one ensemble."""

    decoding: Decoding = dataclasses.field(default_factory=Decoding)
    actions: tuple[str, ...] = ACTIONS
    pool: int = 20_000
    base: str = "fresh"  # the ensemble that the other figures draw from
    stages: tuple[int, ...] = (10, 20, 40)
    self_pool: int = 8_000
    self_steps: int = 3_000
    permutation: tuple[int, ...] = (3, 0, 4, 2, 1)  # of the predicates in Figure 5


LARGE = Separation()
SMOKE = Separation(
    Decoding(30, 8, 16, 2, 32, steps=8, checks=2, batch=8, lengths=(5, 10, 20), count=8, seeds=2),
    ("C6", "S5", "C6*20"), 40, stages=(10, 20), self_pool=16, self_steps=4,
)  # fmt: skip
