"""Many members: a grid of runs, planned, trained on this machine or on a Ray cluster, and one tidy table."""

from .endings import AbstractEnding as AbstractEnding
from .endings import Futility as Futility
from .endings import Halving as Halving
from .grids import Grid as Grid
from .grids import grid as grid
from .plan import SweepPlan as SweepPlan
from .sweeping import plan_of as plan_of
from .sweeping import sweep as sweep
from .table import Table as Table
