"""KS-1 to KS-33."""

from . import (
    contrast_claims,
    counting_claims,
    gradient_claims,
    log_step_claims,
    model_claims,
    one_step_claims,
    oracle_claims,
    published_claims,
    radius_claims,
    tree_claims,
    trend_claims,
    variance_claims,
)

CLAIMS = sorted(
    (
        *tree_claims.CLAIMS,
        *variance_claims.CLAIMS,
        *oracle_claims.CLAIMS,
        *counting_claims.CLAIMS,
        *model_claims.CLAIMS,
        *gradient_claims.CLAIMS,
        *one_step_claims.CLAIMS,
        *log_step_claims.CLAIMS,
        *published_claims.CLAIMS,
        *radius_claims.CLAIMS,
        *trend_claims.CLAIMS,
        *contrast_claims.CLAIMS,
    ),
    key=lambda claim: int(claim.id.removeprefix("KS-")),
)
