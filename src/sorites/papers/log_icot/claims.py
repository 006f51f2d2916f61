"""LI-1 to LI-30."""

from . import (
    ablation_claims,
    adam_claims,
    batch_claims,
    gradient_claims,
    hardness_claims,
    law_claims,
    oracle_claims,
    residual_claims,
    stream_claims,
    training_claims,
    tree_claims,
    trend_claims,
)

CLAIMS = sorted(
    (
        *tree_claims.CLAIMS,
        *stream_claims.CLAIMS,
        *gradient_claims.CLAIMS,
        *batch_claims.CLAIMS,
        *law_claims.CLAIMS,
        *residual_claims.CLAIMS,
        *training_claims.CLAIMS,
        *adam_claims.CLAIMS,
        *oracle_claims.CLAIMS,
        *trend_claims.CLAIMS,
        *hardness_claims.CLAIMS,
        *ablation_claims.CLAIMS,
    ),
    key=lambda claim: int(claim.id.removeprefix("LI-")),
)
