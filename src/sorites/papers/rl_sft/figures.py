"""All figures of the paper and ours."""

FIGURES = ()
