"""Faster forms of what models and tasks compute. `choose` is the only place that decides which form is used."""

from .choose import KERNELS as KERNELS
from .choose import Forms as Forms
from .choose import choose as choose
from .device import on_gpu as on_gpu
