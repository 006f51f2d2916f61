"""Intervals and slopes."""

from .means import mean_interval as mean_interval
from .proportions import Interval as Interval
from .proportions import wilson as wilson
from .slopes import Slope as Slope
from .slopes import log_log_slope as log_log_slope
