"""Claims are data with a check; one that trains takes the lab."""

import numpy as np

from sorites import Claim, Evidence, Lab
from sorites.ledger import at_least, shown

from .experiment import Chains, steps_needed

NEEDED = 0.75  # share of members


def _all_learn(size: Chains, lab: Lab) -> Evidence:
    found = steps_needed(size, lab)
    compared = [
        at_least(f"k={k}: share of members solved", float(np.isfinite(steps).mean()), NEEDED)
        for k, steps in found.items()
    ]
    medians = [shown(f"k={k}: median steps", None, float(np.nanmedian(steps))) for k, steps in found.items()]
    return Evidence((*compared, *medians), seeds=size.seeds * len(size.sparsities))


CLAIMS = (
    Claim(
        id="S-1",
        paper="sixth",
        label="Theorem 1",
        kind="finite",
        says="Teacher forcing teaches serial parity of every length tried to at least three members in four.",
        sizes={"tiny": Chains(8, (2, 4), 60, 4), "quick": Chains()},
        check=_all_learn,
    ),
)
