"""Statements on the page: words escaped, formulas as MathML, which a browser shows without script, font or network."""

import functools
import re
from html import escape

from docutils.utils.math.latex2mathml import tex2mathml

from .mathematics import pieces
from .symbols import SIGNS

RELATION = re.compile(r" (?=(?:=|<|>|\\le|\\ge|\\to|\\sim|\\leftarrow) )")
OPENING, CLOSING = "{([", "})]"


@functools.cache
def html(text: str) -> str:
    """The text with its formulas set; a long one may break before a relation, where a reader would break it."""
    found = []
    for formula, part in pieces(text):
        found.append("".join(map(mathml, breakable(part))) if formula else _words(part))
    return "".join(found)


def breakable(tex: str) -> list[str]:
    """Split before relations outside brackets: browsers break no line inside a formula."""
    parts, begun, depth = [], 0, 0
    for place, letter in enumerate(tex):
        depth += (letter in OPENING) - (letter in CLOSING)
        if depth == 0 and place and RELATION.match(tex, place):
            parts.append(tex[begun:place])
            begun = place + 1
    return [*parts, tex[begun:]]


@functools.cache
def mathml(tex: str) -> str:
    """One line, without the name space that HTML does not need."""
    return re.sub(r">\s+<", "><", tex2mathml(tex)).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")


def _words(text: str) -> str:
    for written, sign in SIGNS:
        text = text.replace(written, sign)
    return escape(text)
