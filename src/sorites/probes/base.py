"""A probe measures a model on held-out chains; its names become the columns of the history."""

import abc
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..models import AbstractModel
from ..supervision import Supervision
from ..tasks import AbstractTask, Chain


class AbstractProbe(eqx.Module):
    """Scalars, or vectors over the levels 1..depth (columns `name.1`, `name.2`, ...).

    A probe with `needs_supervision = False` ignores `supervisions`. It is compiled once for all stages that differ in
    nothing else.
    """

    needs_supervision: ClassVar[bool] = True

    @abc.abstractmethod
    def __call__(
        self,
        model: AbstractModel,
        task: AbstractTask,
        secret,
        chains: Chain,
        supervisions: tuple[Supervision, ...],
    ) -> dict[str, Float[Array, "*level"]]: ...


def fraction(right: Bool[Array, "..."], axis: int | tuple[int, ...] | None = None) -> Float[Array, "..."]:
    """The share of what is right; exactly 1 where all is. A mean over n is compiled to a product with the rounded 1/n,
    which for many n (230, 492, 3148) is below 1 when everything is right: no goal of 1 would ever be reached."""
    return jnp.where(jnp.all(right, axis), 1.0, jnp.mean(right, axis))
