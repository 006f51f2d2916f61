"""LI-1 to LI-24."""

from . import law_claims, structure_claims, training_claims

CLAIMS = sorted(
    [*structure_claims.CLAIMS, *law_claims.CLAIMS, *training_claims.CLAIMS],
    key=lambda claim: int(claim.id.removeprefix("LI-")),
)
