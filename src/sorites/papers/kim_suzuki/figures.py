"""All figures of the paper, and the new ones."""

from . import experiment_figures, hardness_figures, map_figures, schematics

FIGURES = (*schematics.FIGURES, *hardness_figures.FIGURES, *experiment_figures.FIGURES, *map_figures.FIGURES)
