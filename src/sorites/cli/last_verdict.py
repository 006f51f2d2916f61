"""The last verdict on a claim in words, with a mark where it was recorded with other code."""

from typing import Any

from ..papers.registry import outdated, outdated_mark


def last_verdict(claim: Any, record: dict[str, Any] | None) -> dict[str, Any]:
    """The outcome in words, and whether it is outdated; None for both where there is no record."""
    if record is None:
        return {"last verdict": None, "outdated": None}
    outcome = f"{record.get('verdict')} at {record.get('scale')} scale, {record['created'][:19]} UTC"
    words = ", ".join(filter(None, [outcome, outdated_mark(claim, record)]))
    return {"last verdict": words, "outdated": outdated(claim, record)}
