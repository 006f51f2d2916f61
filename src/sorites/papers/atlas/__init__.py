"""The atlas: findings of this laboratory that belong to no paper."""

from ..paper import Paper

paper = Paper(
    "atlas",
    "Which teaching works on which chain: findings of sorites",
    "The sorites authors",
    2026,
    "findings of this software, sorites",
    module=__name__,
    about=(
        "Findings that belong to no paper: which teaching works on which chain, for which model, at equal budgets "
        "and with rates tuned on seeds apart."
    ),
    picture="cells",
)
