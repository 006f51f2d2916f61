"""Everything that exists for speed: faster forms of models and draws, and compiler options.

`choose` is the only place that decides which form a model uses.
"""

from .device import on_gpu as on_gpu
from .kernels import KERNELS as KERNELS
from .kernels import Forms as Forms
from .kernels import choose as choose
