"""All figures of the paper, and the new ones."""

from . import decoder_figures, theory_figures

FIGURES = (*decoder_figures.FIGURES, *theory_figures.FIGURES)
