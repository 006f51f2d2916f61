"""All figures: the paper's own, and ours."""

from . import (
    clipped_figures,
    dynamics_figures,
    estimator_figures,
    flow_figures,
    sample_figures,
    schematics,
    sign_figures,
)

FIGURES = (
    *dynamics_figures.FIGURES,
    *schematics.FIGURES,
    *sign_figures.FIGURES,
    *estimator_figures.FIGURES,
    *flow_figures.FIGURES,
    *sample_figures.FIGURES,
    *clipped_figures.FIGURES,
)
