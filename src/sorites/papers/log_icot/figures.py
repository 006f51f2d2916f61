"""All figures of the paper, and the new ones."""

from . import map_figures, schematics, training_figures, variant_figures

FIGURES = (
    *schematics.FIGURES,
    *training_figures.FIGURES,
    *map_figures.FIGURES,
    *variant_figures.FIGURES,
)
