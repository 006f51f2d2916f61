"""Intervals and slopes."""

from .proportions import Interval as Interval
from .proportions import wilson as wilson
from .slopes import Slope as Slope
from .slopes import log_log_slope as log_log_slope
