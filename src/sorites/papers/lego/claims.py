"""All claims, in the catalogue's order."""

from . import (
    attention_claims,
    data_claims,
    decoder_claims,
    feature_claims,
    floor_claims,
    gradient_claims,
    length_claims,
    order_claims,
    plateau_claims,
    power_claims,
    preactivation_claims,
    rate_claims,
    recursion_claims,
    variable_claims,
)

CLAIMS = sorted(
    (
        *attention_claims.CLAIMS,
        *data_claims.CLAIMS,
        *decoder_claims.CLAIMS,
        *feature_claims.CLAIMS,
        *floor_claims.CLAIMS,
        *gradient_claims.CLAIMS,
        *length_claims.CLAIMS,
        *order_claims.CLAIMS,
        *plateau_claims.CLAIMS,
        *power_claims.CLAIMS,
        *preactivation_claims.CLAIMS,
        *rate_claims.CLAIMS,
        *recursion_claims.CLAIMS,
        *variable_claims.CLAIMS,
    ),
    key=lambda claim: int(claim.id.removeprefix("L")),
)
