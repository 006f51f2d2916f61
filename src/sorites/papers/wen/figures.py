"""All figures of the paper that need no pretrained model."""

from . import complexity_figures, drop_figures, map_figures, pass_figures, plateau_figures

FIGURES = (
    *complexity_figures.FIGURES,
    *drop_figures.FIGURES,
    *map_figures.FIGURES,
    *pass_figures.FIGURES,
    *plateau_figures.FIGURES,
)
