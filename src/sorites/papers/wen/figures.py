"""All figures of the paper."""

from . import complexity_figures, drop_figures, entropy_figures, law_figures, map_figures, pass_figures, plateau_figures

FIGURES = (
    *complexity_figures.FIGURES,
    *drop_figures.FIGURES,
    *entropy_figures.FIGURES,
    *law_figures.FIGURES,
    *map_figures.FIGURES,
    *pass_figures.FIGURES,
    *plateau_figures.FIGURES,
)
