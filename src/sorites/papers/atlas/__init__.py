"""The atlas: findings of this laboratory that belong to no paper."""

from ..paper import Paper

paper = Paper(
    "atlas",
    "Which teaching works on which chain: findings of sorites",
    "The sorites authors",
    2026,
    "findings of this software, sorites",
    module=__name__,
)
