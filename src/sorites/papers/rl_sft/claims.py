"""RS-1 to RS-39."""

from . import (
    bound_claims,
    dynamics_claims,
    flow_claims,
    freeze_claims,
    gradient_claims,
    loss_claims,
    margin_claims,
    outcome_claims,
    sample_claims,
    serial_claims,
    sft_claims,
    task_claims,
    uniform_claims,
)

CLAIMS = sorted(
    (
        *task_claims.CLAIMS,
        *gradient_claims.CLAIMS,
        *dynamics_claims.CLAIMS,
        *uniform_claims.CLAIMS,
        *sft_claims.CLAIMS,
        *freeze_claims.CLAIMS,
        *loss_claims.CLAIMS,
        *outcome_claims.CLAIMS,
        *flow_claims.CLAIMS,
        *serial_claims.CLAIMS,
        *bound_claims.CLAIMS,
        *sample_claims.CLAIMS,
        *margin_claims.CLAIMS,
    ),
    key=lambda claim: int(claim.id.removeprefix("RS-")),
)
