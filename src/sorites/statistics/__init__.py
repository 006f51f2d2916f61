"""Intervals and slopes."""

from .bending import Bend as Bend
from .bending import bend_of as bend_of
from .means import mean_interval as mean_interval
from .proportions import Interval as Interval
from .proportions import wilson as wilson
from .slopes import Slope as Slope
from .slopes import log_log_slope as log_log_slope
from .slopes import semi_log_slope as semi_log_slope
from .survival import Growth as Growth
from .survival import Median as Median
from .survival import compare_growth as compare_growth
from .survival import kaplan_meier as kaplan_meier
from .survival import median_time as median_time
