"""W1 to W26."""

from . import data_claims

CLAIMS = sorted(
    (*data_claims.CLAIMS,),
    key=lambda claim: int(claim.id.removeprefix("W")),
)
