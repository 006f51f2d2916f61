"""All figures of the paper, and the new ones."""

from . import epoch_figures, length_figures, map_figures, schematics, separation_figures, theory_figures

FIGURES = (
    *length_figures.FIGURES,
    *map_figures.FIGURES,
    *schematics.FIGURES,
    *theory_figures.FIGURES,
    *separation_figures.FIGURES,
    *epoch_figures.FIGURES,
)
