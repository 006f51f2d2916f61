"""What a class of a user must have: methods that take what the engine passes, and return what it needs."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import SpecError
from ..models import AbstractModel
from ..probes import AbstractProbe
from ..supervision import AbstractLabels, AbstractObjective, AbstractPrefix
from ..tasks import AbstractTask
from .stage import Stage


def wrong_signature(stage: Stage, model: AbstractModel) -> str | None:
    """Say which method of a user's class does not take what the engine passes to it.

    Args:
        stage: its task, supervisions and probes are looked at.
        model: the model of the run.

    Returns:
        A sentence; None where all methods fit.
    """
    parts: list[tuple[Any, type]] = [(stage.task, AbstractTask), (model, AbstractModel)]
    parts += [(probe, AbstractProbe) for probe in stage.evaluation.probes]
    for term in stage.supervisions:
        parts += [(term.prefix, AbstractPrefix), (term.labels, AbstractLabels), (term.objective, AbstractObjective)]
    for thing, kind in parts:
        for name in sorted(kind.__abstractmethods__):  # pyright: ignore
            asked = getattr(kind, name)
            if not inspect.isroutine(asked):  # a property
                continue
            _, *names = inspect.signature(asked).parameters  # without self
            takes = inspect.signature(getattr(thing, name))
            try:
                takes.bind(*names)
            except TypeError:
                return (
                    f"got {type(thing).__name__}.{name}({', '.join(takes.parameters)}); allowed is "
                    f"{name}({', '.join(names)}); give it these arguments"
                )
    return None


@contextmanager
def own_errors(thing: Any, what: str) -> Iterator[None]:
    """Turn an error of a user's code into one sentence.

    Args:
        thing: the object whose code runs in the block, or several.
        what: the names of its methods.

    Raises:
        SpecError: with the class, the methods and the first line of the error.
    """
    try:
        yield
    except SpecError:
        raise
    except Exception as error:
        names = ", ".join(type(each).__name__ for each in (thing if isinstance(thing, tuple) else (thing,)))
        said = (str(error).splitlines() or [""])[0]
        raise SpecError(
            f"got {type(error).__name__} ({said}) from {what} of {names}; allowed is code that JAX can trace; fix it"
        ) from error


def require_returned(thing: Any, method: str, value: Any, kind: type) -> None:
    """Refuse a method that returns another kind of thing.

    Args:
        thing: the object that has the method.
        method: its name.
        value: what the method returned.
        kind: what it must return.

    Raises:
        SpecError: where the value is of another kind.
    """
    if not isinstance(value, kind):
        got = "an array" if hasattr(value, "shape") else type(value).__name__
        raise SpecError(
            f"got {got} from {type(thing).__name__}.{method}; allowed is {kind.__name__}; return for example "
            f"{EXAMPLES[kind.__name__]}"
        )


EXAMPLES = {
    "Chain": "Chain(tokens, self.layout)",
    "AbstractPrediction": "SignMeans(means)",
    "dict": "{'metric': value}",
}
