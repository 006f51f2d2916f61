"""What was found about each paper: a short text and a table that is computed from a record.

A text has no typed numbers. Its `{name}` are filled in from `values`, at most one in a sentence.
"""

import importlib

from findings.finding import Finding
from findings.finding import Table as Table

MODULES = {slug: slug.replace("-", "_") for slug in ("log-icot", "kim-suzuki", "rl-sft", "wen", "lego", "atlas")}


def findings(slug: str) -> list[Finding]:
    """The findings of one paper, in the order of its page."""
    return importlib.import_module(f"findings.{MODULES[slug]}").FINDINGS
