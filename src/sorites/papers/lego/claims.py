"""All claims, in the catalogue's order."""

from . import (
    attention_claims,
    data_claims,
    decoder_claims,
    feature_claims,
    gradient_claims,
    length_claims,
    preactivation_claims,
    rate_claims,
    recursion_claims,
    variable_claims,
)

_ALL = {
    claim.id: claim
    for module in (
        data_claims, gradient_claims, feature_claims, variable_claims, attention_claims, preactivation_claims, length_claims, rate_claims,
        recursion_claims, decoder_claims,
    )
    for claim in module.CLAIMS
}  # fmt: skip
CLAIMS = tuple(_ALL[f"L{number}"] for number in range(1, 26))
