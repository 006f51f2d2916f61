"""All figures: the paper's own, and ours."""

from . import sample_figures, schematics, sign_figures

FIGURES = (*schematics.FIGURES, *sign_figures.FIGURES, *sample_figures.FIGURES)
