"""One look for every figure."""

from .dark_mode import dark as dark
from .dark_mode import save_dark as save_dark
from .plotting import COLOURS as COLOURS
from .plotting import LOOK as LOOK
from .plotting import QUIET as QUIET
from .plotting import band as band
from .plotting import new_figure as new_figure
from .plotting import pdf_metadata as pdf_metadata
from .plotting import save as save
from .plotting import stage_lines as stage_lines
from .plotting import style as style
