"""KS-3 to KS-9: hardness without a chain."""

from . import counting_claims, oracle_claims, variance_claims

CLAIMS = tuple(
    sorted(
        (*variance_claims.CLAIMS, *oracle_claims.CLAIMS, *counting_claims.CLAIMS),
        key=lambda claim: int(claim.id.removeprefix("KS-")),
    )
)
