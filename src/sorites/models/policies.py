"""Links that are policies: q = 2 psi(xi) - 1, the mean of a token whose chance of +1 is psi (rl-sft, Table 1).

parity psi = z^2, AND psi = max(z, 0), OR psi = 1 + min(z, 0), and their negations. xi is a sum of signs times
attention; where it is zero up to rounding it is zero, and there psi' = 0 (Eqs. 119, 136).
"""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from ..errors import SpecError
from .links import LINKS, AbstractLink, Means


def _untied(z: Means) -> Means:
    """Zero, and flat, where it is zero up to rounding: no slope is decided by it."""
    return jnp.where(_tied(z), 0, z)


def _even(mean: Means) -> Means:
    """Zero where it is zero up to rounding, so that no token is decided by it; the slope stays."""
    return mean - jax.lax.stop_gradient(jnp.where(_tied(mean), mean, 0))


def _tied(z: Means) -> Bool[Array, "*shape"]:
    return jnp.abs(z) < (1e-12 if z.dtype == jnp.float64 else 1e-6)


@dataclasses.dataclass(frozen=True)
class Policy(AbstractLink):
    """The mean of a token under the gate's psi; `negated` swaps its two values."""

    gate: str  # parity, and, or
    negated: bool = False

    def __call__(self, t: Means) -> Means:
        if self.gate == "parity":
            mean = 2 * t * t - 1
        elif self.gate == "and":
            mean = _even(2 * jax.nn.relu(_untied(t)) - 1)
        else:
            mean = _even(1 - 2 * jax.nn.relu(_untied(-t)))
        return -mean if self.negated else mean


POLICIES: dict[str, AbstractLink] = {
    "policy-parity": Policy("parity"),
    "policy-and": Policy("and"),
    "policy-or": Policy("or"),
    "policy-nand": Policy("and", negated=True),
    "policy-nor": Policy("or", negated=True),
    "policy-xor": Policy("parity", negated=True),
}


def policy_for(gate: str) -> AbstractLink:
    """The policy that can express a gate; a gate that is not symmetric has none."""
    name = f"policy-{gate}"
    if name not in POLICIES:
        raise SpecError(
            f"a policy exists for {', '.join(name.removeprefix('policy-') for name in POLICIES)}: gate={gate!r}; "
            "use one of these"
        )
    return POLICIES[name]


def any_link_named(link: str | AbstractLink) -> AbstractLink:
    """The link or policy of that name; one of your own passes through."""
    known = {**LINKS, **POLICIES}
    if isinstance(link, AbstractLink):
        return link
    if link not in known:
        raise SpecError(f"a link is one of {', '.join(known)}: link={link!r}; use one of these")
    return known[link]
