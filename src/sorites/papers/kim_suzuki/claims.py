"""KS-1 to KS-28."""

from . import gradient_claims, model_claims, published_claims, theorem_claims, tree_claims

CLAIMS = sorted(
    (
        *tree_claims.CLAIMS,
        *model_claims.CLAIMS,
        *gradient_claims.CLAIMS,
        *theorem_claims.CLAIMS,
        *published_claims.CLAIMS,
    ),
    key=lambda claim: int(claim.id.removeprefix("KS-")),
)
