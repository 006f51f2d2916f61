"""Refusals: one sentence that names the rule, the value and the remedy."""


class SpecError(ValueError):
    """A specification that cannot run; the command line prints it and exits with status 2."""


def require(condition: bool, sentence: str) -> None:
    """Raise `SpecError(sentence)` unless the condition holds."""
    if not condition:
        raise SpecError(sentence)
