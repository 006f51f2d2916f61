"""Everything that exists for speed: faster forms of models and draws, and compiler options.

`choose` is the only place that decides which form a model uses.
"""

from .choose import KERNELS as KERNELS
from .choose import Forms as Forms
from .choose import choose as choose
from .device import on_gpu as on_gpu
