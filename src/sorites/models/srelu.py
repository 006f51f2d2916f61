"""The smoothed ReLU of LEGO's feed-forward network, in the paper's two versions and a plain one.

`standard` is zero below 0; `printed` is Definition 3.4, whose value at -rho is right but whose slope jumps there from
0 to -1 for even q; `modified` is Assumption B.2 with its value taken as the integral of its slope, for the printed
value jumps by varpi^2/2 at -varpi.
"""

import dataclasses
from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import require

Version = Literal["standard", "printed", "modified"]


@dataclasses.dataclass(frozen=True)
class SReLU:
    power: int = 4  # q
    width: float = 0.5  # rho (ϱ)
    version: Version = "standard"
    leak: float = 1e-3  # varpi (ϖ), of the modified version
    ceiling: float = 1e9  # B, of the modified version

    def __post_init__(self):
        require(self.power >= 4 and self.power % 2 == 0, f"q is even, 4 or more: power={self.power}; use 4 or 6")
        require(self.width > 0, f"the bend has a width: width={self.width}; use a positive number")
        require(self.leak > 0, f"the leak is positive: leak={self.leak}; use 1e-3")
        known = ("standard", "printed", "modified")
        require(self.version in known, f"versions are {', '.join(known)}: version={self.version!r}; use one of these")

    def __call__(self, x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        q, rho = self.power, self.width
        low = -rho if self.version == "printed" else 0.0
        bend = jnp.clip(x, low, rho) ** q / (q * rho ** (q - 1))
        straight = jnp.minimum(x, self.ceiling) if self.version == "modified" else x
        value = jnp.where(x > rho, straight - rho * (1 - 1 / q), bend)
        if self.version != "modified":
            return value
        below, leak = jnp.maximum(x, -self.ceiling), self.leak
        negative = jnp.where(x > -leak, x**2 / 2, -leak * below - leak**2 / 2)
        return jnp.where(x > 0, value, negative)

    def derivative(self, x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        """The derivative, taken from the left at the joints."""
        q, rho, leak, top = self.power, self.width, self.leak, self.ceiling
        bend = (x / rho) ** (q - 1)
        if self.version == "standard":
            return jnp.where(x > rho, 1.0, jnp.where(x > 0, bend, 0.0))
        if self.version == "printed":
            return jnp.where(x > rho, 1.0, jnp.where(x > -rho, bend, 0.0))
        negative = jnp.where(x > -leak, x, jnp.where(x > -top, -leak, 0.0))
        return jnp.where(x > top, 0.0, jnp.where(x > rho, 1.0, jnp.where(x > 0, bend, negative)))


def printed_modified(x: Float[Array, "*shape"], srelu: SReLU) -> Float[Array, "*shape"]:
    """The values as Assumption B.2 prints them."""
    leak, top = srelu.leak, srelu.ceiling
    negative = jnp.where(x > -leak, x**2 / 2, jnp.where(x > -top, -leak * x, leak * top))
    return jnp.where(x > 0, srelu(x), negative)
