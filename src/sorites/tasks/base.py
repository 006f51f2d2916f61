"""What every task offers: a layout, a secret, chains on the device, and labels for any prefix."""

import abc
from typing import Any

import equinox as eqx
from jaxtyping import Array, Int, Key, Num

from ..errors import SpecError
from .chain import Chain
from .layout import Layout

Secret = Any  # a pytree of arrays; each task defines its own


class AbstractTask(eqx.Module):
    """A task is static: it holds sizes, never data. Its secret is drawn once per member."""

    @property
    @abc.abstractmethod
    def layout(self) -> Layout: ...

    @abc.abstractmethod
    def draw(self, key: Key[Array, ""]) -> Secret:
        """The member's secret."""

    @abc.abstractmethod
    def sample(self, secret: Secret, key: Key[Array, ""], count: int) -> Chain:
        """`count` chains along the last axis, all thoughts shown, made on the device."""

    def enumerate(self, secret: Secret) -> Chain:
        """Every input once, where a task can list them."""
        raise SpecError(f"only some tasks can list their inputs: task={type(self).__name__}; sample instead")

    @abc.abstractmethod
    def children(self, secret: Secret) -> Int[Array, "thought child"]:
        """The positions that each thought is computed from."""

    @abc.abstractmethod
    def relabel(self, secret: Secret, tokens: Num[Array, "position slot *batch"]) -> Num[Array, "thought slot *batch"]:
        """Each thought from its children as they stand: the identity on the truth, the process-reward
        label on a rollout."""
