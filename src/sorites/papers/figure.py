"""A figure is data and a drawing: the data are computed once and stored, the drawing reads nothing else."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from ..ledger import Scale
from ..training import Lab

if TYPE_CHECKING:
    import matplotlib.figure
    import polars

P = TypeVar("P")
Frames = dict[str, "polars.DataFrame"]  # named tables; the main one is called "data"


@dataclasses.dataclass(frozen=True)
class Figure(Generic[P]):
    """`measure` makes the tables from parameters, `draw` the picture from the tables alone, `find` a sentence of
    finding from the tables."""

    id: str  # "log-icot/2b"
    title: str
    caption: str
    sizes: dict[Scale, P]
    measure: Callable[[P, Lab], Frames]
    draw: Callable[[Frames, P], "matplotlib.figure.Figure"]
    find: Callable[[Frames, P], str] | None = None
    seconds: float = 5.0  # a rough duration at quick scale on 2 cores
    claims: tuple[str, ...] = ()  # the claims that it shows; on the page it stands beside the first
    apart: bool = False  # takes hours at quick scale: drawn by name or with its own paper, not with all of them

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    @property
    def name(self) -> str:
        return self.id.split("/")[1]
