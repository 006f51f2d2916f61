"""A probe measures a model on held-out chains; its names become the columns of the history."""

import abc

import equinox as eqx
from jaxtyping import Array, Float

from ..models import AbstractModel
from ..supervision import Supervision
from ..tasks import AbstractTask, Chain


class AbstractProbe(eqx.Module):
    """Scalars, or vectors over the levels 1..depth (columns `name.1`, `name.2`, ...)."""

    @abc.abstractmethod
    def __call__(
        self,
        model: AbstractModel,
        task: AbstractTask,
        secret,
        chains: Chain,
        taught: tuple[Supervision, ...],
    ) -> dict[str, Float[Array, "*level"]]: ...
