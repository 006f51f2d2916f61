"""KS-3 to KS-9: hardness without a chain."""

from . import exponent_claims, oracle_claims, variance_claims

CLAIMS = (*variance_claims.CLAIMS, *oracle_claims.CLAIMS, *exponent_claims.CLAIMS)
