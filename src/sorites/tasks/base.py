"""What every task offers: a layout, an alphabet, a secret, chains on the device, and labels for any prefix."""

import abc
import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Int, Key, Num, UInt32

from ..errors import SpecError
from ..fields import make_plain_fields_static
from .alphabet import Alphabet
from .chain import Chain
from .layout import Layout

Secret = Any  # a pytree of arrays; each task defines its own


def compiled(method: Any) -> Any:
    """One program where it is called by itself, instead of one for every operation; inside a program a part of it."""
    program: Any = eqx.filter_jit(method, inline=True)  # pyright: ignore

    @functools.wraps(method)
    def called(self, *given, **named):
        return program(self, *given, **named)

    return called


class AbstractTask(eqx.Module):
    """A task makes chains. Its secret is drawn once per member.

    Fields that are int, bool, str or tuples of them are sizes: they are compiled in. What the members of one ensemble
    may differ in, such as a sparsity or a table, can be an array.

    Attributes:
        unchecked: checks of `training/contracts.py` that a class switches off, each with a reason. The store keeps it.
    """

    unchecked: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        make_plain_fields_static(cls)

    @property
    @abc.abstractmethod
    def layout(self) -> Layout: ...

    @property
    def alphabet(self) -> Alphabet:
        """Signs, unless a task says otherwise."""
        return Alphabet()

    @property
    def words(self) -> tuple[str, ...]:
        """How each token number is written; no two alike, none with a space or a colon. Signs as bits, which parity
        is the XOR of."""
        return tuple(map(str, range(self.alphabet.vocab)))

    @abc.abstractmethod
    def draw(self, key: Key[Array, ""]) -> Secret:
        """The member's secret."""

    @abc.abstractmethod
    def sample(self, secret: Secret, key: Key[Array, ""], count: int) -> Chain:
        """`count` chains along the last axis, all thoughts shown, made on the device."""

    @property
    def trainable(self) -> int:
        """How many different numbered inputs training may see."""
        return 2**31 - 1

    @property
    def held_out(self) -> int:
        """How many numbered inputs training never sees."""
        return 2**31 - 1

    def numbered(self, secret: Secret, numbers: UInt32[Array, " batch"], held_out: bool = False) -> Chain:
        """The chains with these numbers, in an order of the member's own: a pass over them repeats nothing. `held_out`
        numbers other inputs, which the first `trainable` never meet."""
        raise SpecError(f"only some tasks number their inputs: task={type(self).__name__}; use the source Sampled")

    def enumerate(self, secret: Secret) -> Chain:
        """Every input once, where a task can list them."""
        raise SpecError(f"only some tasks can list their inputs: task={type(self).__name__}; sample instead")

    @abc.abstractmethod
    def children(
        self, secret: Secret, tokens: Num[Array, "position slot *batch"] | None = None
    ) -> Int[Array, "thought child *each"]:
        """Return the positions that each thought is computed from.

        Args:
            secret: of the member.
            tokens: the chains, for a task whose children depend on the example. Others ignore it.

        Returns:
            Earlier positions, [thought, child]; -1 where a thought has fewer children than others. With a batch axis
            last, if they depend on the example.
        """

    @abc.abstractmethod
    def relabel(self, secret: Secret, tokens: Num[Array, "position slot *batch"]) -> Num[Array, "thought slot *batch"]:
        """Each thought from its children as they stand: the identity on the truth, the process-reward
        label on a rollout."""

    def counted(
        self, secret: Secret, tokens: Num[Array, "position slot *batch"] | None = None
    ) -> Bool[Array | np.ndarray, " thought *each"]:
        """Return which thoughts exist: all, unless a chain is shorter than its layout. Arguments as in `children`."""
        return np.ones(self.layout.thoughts, bool)

    def answer(
        self, secret: Secret, tokens: Num[Array, "position slot *batch"] | None = None
    ) -> int | Int[Array, "*each"]:
        """Return which thought is the answer: the last that exists. Arguments as in `children`."""
        return self.layout.thoughts - 1
