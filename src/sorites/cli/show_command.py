"""sorites show ID"""

import inspect
from typing import Any

from .common import all_claims, all_figures, console, emit, nearest, open_store
from .last_verdict import last_verdict


def execute(options: Any) -> int:
    claims, figures = all_claims(), all_figures()
    if options.id in claims:
        claim, last = claims[options.id], open_store(options).last_verdict(options.id)
        record = _claim(claim) | last_verdict(claim, last)
    elif options.id in figures:
        record = _figure(figures[options.id])
    else:
        raise nearest("claim or figure", options.id, [*claims, *figures])
    if not emit(options, record):
        from rich.markup import escape

        screen = console(options)
        for name, value in record.items():
            if name == "outdated":  # the last verdict says it in words
                continue
            screen.print(f"[bold]{name}[/bold]  {escape(str(value))}", highlight=False)
    return 0


def _code(function: Any) -> str:
    function = inspect.unwrap(function)
    return f"{function.__module__}:{function.__code__.co_firstlineno} ({function.__name__})"


def _claim(claim: Any) -> dict[str, Any]:
    import dataclasses

    return {
        "id": claim.id,
        "paper": claim.paper,
        "label": claim.label,
        "kind": claim.kind,
        "says": claim.says,
        "expected": claim.expected,
        "code": _code(claim.check),
        "parameters": {scale: dataclasses.asdict(size) for scale, size in claim.sizes.items()},
        "domain": None if claim.domain is None else domain(claim.domain),
        "departures": list(claim.departures),
        "revised": claim.revised,
    }


def domain(found: Any) -> dict[str, str]:
    """In words: where a claim is meant to hold."""
    because = {"where": found.because} if found.because else {}
    return {name: str(each) for name, each in found.ranges.items()} | because


def _figure(figure: Any) -> dict[str, Any]:
    import dataclasses

    return {
        "id": figure.id,
        "title": figure.title,
        "caption": figure.caption,
        "code": _code(figure.measure),
        "parameters": {scale: dataclasses.asdict(size) for scale, size in figure.sizes.items()},
        "command": f"sorites figure {figure.id}",
    }
