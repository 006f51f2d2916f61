"""W1 to W27."""

from . import (
    block_claims,
    bound_claims,
    data_claims,
    dynamics_claims,
    entropy_claims,
    gpt_claims,
    gradient_claims,
    memory_claims,
    need_claims,
    plateau_claims,
    precision_claims,
    representation_claims,
)

CLAIMS = sorted(
    (
        *data_claims.CLAIMS,
        *representation_claims.CLAIMS,
        *precision_claims.CLAIMS,
        *memory_claims.CLAIMS,
        *block_claims.CLAIMS,
        *gradient_claims.CLAIMS,
        *bound_claims.CLAIMS,
        *dynamics_claims.CLAIMS,
        *need_claims.CLAIMS,
        *gpt_claims.CLAIMS,
        *entropy_claims.CLAIMS,
        *plateau_claims.CLAIMS,
    ),
    key=lambda claim: int(claim.id.removeprefix("W")),
)
