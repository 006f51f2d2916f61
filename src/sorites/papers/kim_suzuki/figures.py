"""All figures of the paper, and the new ones."""

from . import experiment_figures, map_figures, schematics

FIGURES = (*schematics.FIGURES, *experiment_figures.FIGURES, *map_figures.FIGURES)
