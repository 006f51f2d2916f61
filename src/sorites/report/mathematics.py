"""Statements as the ledger writes them ("eps_{t+1} <= 1 - cos(pi (2 mass + eps_t))") with their formulas as TeX.

A formula is a stretch of known symbols: single letters, Greek names, functions, numbers, operators and whole brackets.
What is no symbol is a word and stays as it is, so a stretch that is not recognised is still read as it was written.
"""

import re

from .formulas import Reader
from .symbols import SIGNS


def pieces(text: str) -> list[tuple[bool, str]]:
    """The statement in order: (True, TeX) for a formula, (False, words) for the rest."""
    reader, found = Reader(text), []
    while reader.peek().kind != "end":
        begun = reader.at
        formula = None
        if reader.peek().kind != "space" and not _inside_a_word(reader):
            formula = reader.formula()
        if formula is not None and formula[1]:
            found.append((True, formula[0]))
            continue
        reader.at = max(begun + 1, reader.at) if formula is not None else begun + 1
        found.append((False, "".join(token.text for token in reader.tokens[begun : reader.at])))
    return found


def _inside_a_word(reader: Reader) -> bool:
    """A letter behind a hyphen or an apostrophe belongs to a word: k-parity begins one, S3's ends one."""
    if not reader.at or reader.peek().kind not in ("name", "number"):
        return False
    before = reader.tokens[reader.at - 1].text
    return before == "'" or before == "."


def typeset(text: str) -> str:
    """As Markdown with $formulas$, safe in a table cell."""
    written = "".join(f"${tex}$" if formula else _words(tex) for formula, tex in pieces(text))
    return re.sub(r"\$\$", "$ $", written)


def _words(text: str) -> str:
    for written, sign in SIGNS:
        text = text.replace(written, sign)
    return re.sub(r"([\\`*_{}\[\]<>|#$])", r"\\\1", text)
