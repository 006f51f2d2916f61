"""Where the labels come from."""

import abc

import equinox as eqx
from jaxtyping import Array, Num

from ..tasks import AbstractTask, Chain


class AbstractLabels(eqx.Module):
    """Where the label of each thought comes from."""

    @abc.abstractmethod
    def __call__(
        self, task: AbstractTask, secret, chains: Chain, tokens: Num[Array, "position slot batch"]
    ) -> Num[Array, "thought slot batch"]:
        """Return the labels of a batch.

        Args:
            task: knows how a thought is computed.
            secret: of the member.
            chains: the true chains.
            tokens: what the model was given, inputs and thoughts.

        Returns:
            A token for each thought and slot.
        """


class TrueLabels(AbstractLabels):
    """The thoughts computed from the inputs all the way (rl-sft's y-tilde)."""

    def __call__(self, task, secret, chains, tokens):
        return chains.tokens[task.layout.inputs :]


class LabelsFromPrefix(AbstractLabels):
    """Each thought's gate applied to the model's own prefix (rl-sft's y-bar)."""

    def __call__(self, task, secret, chains, tokens):
        return task.relabel(secret, tokens)
