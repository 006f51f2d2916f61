"""All figures: the paper's own, and ours."""

from . import clipped_figures, estimator_figures, sample_figures, schematics, sign_figures

FIGURES = (
    *schematics.FIGURES,
    *sign_figures.FIGURES,
    *estimator_figures.FIGURES,
    *sample_figures.FIGURES,
    *clipped_figures.FIGURES,
)
