"""Reads a formula as the ledger writes it, and writes it as TeX."""

import re

from .symbols import (
    FUNCTIONS,
    NAMES,
    OPERATORS,
    PAIRS,
    PRODUCTS,
    SEPARATORS,
    SYMBOLS,
    TOKEN,
    UPPER,
    WORDS,
    Token,
)


class Reader:
    """One pass over a statement; `formula` moves on only over what it understands."""

    def __init__(self, text: str):
        self.tokens = [Token(found.lastgroup or "other", found.group()) for found in TOKEN.finditer(text)]
        self.at = 0

    def peek(self, ahead: int = 0) -> Token:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else Token("end", "")

    def formula(self) -> tuple[str, bool] | None:
        """Factors joined by operators, as TeX, and whether a letter is among them; None moves nowhere."""
        start, parts, letters, good = self.at, [], False, None
        while True:
            self.space()
            sign = self.operator(leading=not parts)
            self.space()
            if sign and self.peek().text == "-" and self.peek(1).kind != "space":
                sign, self.at = f"{sign} -", self.at + 1
            factor = self.factor()
            if factor is None:
                break
            text, has_letter = factor
            parts += [sign, text] if sign else [text]
            letters |= has_letter
            good = self.at
        if good is None:
            self.at = start
            return None
        self.at = good
        return " ".join(parts), letters

    def space(self) -> None:
        while self.peek().kind == "space":
            self.at += 1

    def operator(self, leading: bool) -> str | None:
        token = self.peek()
        if token.text not in OPERATORS or (leading and token.text not in "+-"):
            return None
        if leading and (self.peek(1).kind == "space" or (self.at and self.tokens[self.at - 1].kind == "name")):
            return None  # a dash between words, or a hyphen
        if token.text == "<" and self.product(look=True):
            return None
        self.at += 1
        return OPERATORS[token.text]

    def factor(self) -> tuple[str, bool] | None:
        """An atom with what hangs on it: subscripts, powers, primes, and a bracket of arguments."""
        start, atom = self.at, self.atom()
        if atom is None:
            self.at = start
            return None
        text, letters, plain = atom
        hanging = ""
        while True:
            token = self.peek()
            if token.kind == "prime" and letters:
                hanging, self.at = hanging + "'", self.at + 1
            elif token.kind == "power":
                hanging, self.at = hanging + ("^2" if token.text == "²" else "^3"), self.at + 1
            elif token.text in ("_", "^") and (script := self.script(token.text, plain)) is not None:
                hanging += f"{token.text}{{{script}}}"
                letters |= bool(re.search("[A-Za-z]", script))
            elif token.text == "*" and letters and self.peek(1).kind in ("end", "other") and self.peek(1).text != "(":
                hanging, self.at = hanging + "^*", self.at + 1
            else:
                break
        if plain in WORDS and not hanging and not self.joined(start):
            self.at = start
            return None
        return text + hanging, letters

    def joined(self, start: int) -> bool:
        """Does the letter at `start` stand in a formula and not in a sentence?"""
        before = self.tokens[start - 1].text if start else ""
        after, then = self.peek().text, self.peek(1).text
        if after == " " and self.peek(1).kind == "name" and len(then) > 1 and then not in SYMBOLS:
            return False
        tight = {"/", "(", "[", "=", "+", "-", "_", "^", "|"}
        return before in tight | {"{"} or after in {"/", "(", "[", "+"} or (after == " " and then in ("=", "+", "<="))

    def script(self, mark: str, base: str) -> str | None:
        """What stands behind _ or ^: a bracket, or one signed atom."""
        start = self.at
        self.at += 1
        token = self.peek()
        if token.text in ("{", "("):
            inside = self.bracket()
            if inside is None:
                self.at = start
                return None
            index = mark == "^" and (base in UPPER or re.fullmatch(r"\([a-z]\)", inside))  # y^(t): an index, no power
            return inside[1:-1] if token.text == "(" and not index else inside
        sign = ""
        if token.text in ("+", "-", "*"):
            sign, self.at = token.text, self.at + 1
        token = self.peek()
        if token.kind == "number" or token.kind == "name":
            self.at += 1
            text = SYMBOLS.get(token.text, token.text)
            text = text if len(token.text) <= 2 or token.text in SYMBOLS or token.kind == "number" else _upright(text)
            while self.peek().kind == "prime":
                text, self.at = text + "'", self.at + 1
            if token.text == "Omega" and self.peek().text == "(":
                text += self.bracket() or ""
            return sign + text
        if sign and mark == "_":
            return sign
        self.at = start
        return None

    def atom(self) -> tuple[str, bool, str] | None:
        token = self.peek()
        if token.kind == "number":
            self.at += 1
            return token.text.replace(",", "{,}"), False, ""
        if token.kind == "hat":
            self.at += 1
            letter, accent = token.text.split("-")
            return f"\\{accent}{{{letter}}}", True, ""
        if token.kind == "name":
            return self.name(token.text)
        if token.text in PAIRS and (inside := self.bracket()) is not None:
            return inside if token.text != "{" else f"\\{{{inside}\\}}", bool(re.search("[A-Za-z]", inside)), ""
        if token.text == "<" and (inside := self.product()) is not None:
            return inside, True, ""
        if token.text == "|":
            return self.bars()
        return None

    def name(self, text: str) -> tuple[str, bool, str] | None:
        following = self.peek(1).text
        if text == "sqrt":
            return self.root()
        if text in ("sum", "prod") and following == "_":
            self.at += 1
            return f"\\{text}", True, ""
        if text in SYMBOLS:
            self.at += 1
            return SYMBOLS[text], True, ""
        if text in FUNCTIONS:
            return self.function(text)
        if text in NAMES:
            if following not in ("(", "_", "^", " ") or (following == " " and text.islower()):
                return None
            self.at += 1
            return _upright(text), True, ""
        differential = re.fullmatch("d[A-Za-z]", text) and (following in "/_" or self.tokens[self.at - 1].text == "/")
        if text in PRODUCTS or differential:
            self.at += 1
            return " ".join(text), True, ""
        if found := re.fullmatch(rf"([A-Za-z]|{'|'.join(SYMBOLS)})(\d+)", text):
            self.at += 1
            return f"{SYMBOLS.get(found[1], found[1])}_{{{found[2]}}}", True, ""
        if len(text) == 1:
            self.at += 1
            return text, True, text
        if following == "_" and text.isalpha() and len(text) == 2:
            self.at += 1
            return text, True, ""
        return None

    def function(self, text: str) -> tuple[str, bool, str] | None:
        """With its argument: log of a word is words."""
        begun = self.at
        self.at += 1
        if text not in ("max", "min") or self.peek().text in ("(", "_"):
            self.space()
            argument = self.factor()
            if argument is not None:
                return f"{FUNCTIONS[text]} {argument[0]}", True, ""
        self.at = begun
        return None

    def root(self) -> tuple[str, bool, str] | None:
        begun = self.at
        self.at += 1
        self.space()
        argument = self.factor()
        if argument is None:
            self.at = begun
            return None
        text = argument[0]
        text = text[1:-1] if text.startswith("(") and _whole(text) else text
        return f"\\sqrt{{{text}}}", True, ""

    def bracket(self) -> str | None:
        """A bracket whose whole inside is a formula, or formulas between commas."""
        begun, opening = self.at, self.peek().text
        self.at += 1
        inside = self.listed(PAIRS[opening])
        if inside is None:
            self.at = begun
            return None
        return inside if opening == "{" else f"{opening}{inside}{PAIRS[opening]}"

    def listed(self, closing: str) -> str | None:
        """Formulas up to the closing bracket, with whatever separates them."""
        parts = []
        while True:
            self.space()
            token = self.peek()
            if token.text == closing and parts:
                self.at += 1
                return " ".join(parts)
            if (found := self.formula()) is not None:
                parts.append(found[0])
            elif token.kind == "dots" or token.text in SEPARATORS:
                parts.append(SEPARATORS.get(token.text, "\\ldots"))
                self.at += 1
            elif token.text in OPERATORS and self.peek(1).text == closing:
                parts.append(OPERATORS[token.text])
                self.at += 1
            else:
                return None

    def product(self, look: bool = False) -> str | None:
        """<e, v>; look: whether there is one, without moving."""
        begun = self.at
        self.at += 1
        inside = self.factors(",")
        if inside is not None:
            self.space()
            second = self.factors(">")
            inside = None if second is None else f"\\langle {inside}, {second}\\rangle "
        if inside is None or look:
            self.at = begun
        return inside

    def factors(self, closing: str) -> str | None:
        """Up to the closing sign and over it."""
        parts = []
        while (found := self.factor()) is not None:
            parts.append(found[0])
            if self.peek().text == "/":
                parts.append("/")
                self.at += 1
        if not parts or self.peek().text != closing:
            return None
        self.at += 1
        return " ".join(parts)

    def bars(self) -> tuple[str, bool, str] | None:
        begun = self.at
        self.at += 1
        found = self.formula()
        self.space()
        if found is None or self.peek().text != "|":
            self.at = begun
            return None
        self.at += 1
        return f"\\vert {found[0]}\\vert ", True, ""


def _upright(text: str) -> str:
    return f"\\mathrm{{{text}}}"


def _whole(text: str) -> bool:
    """Does the first bracket close at the very end?"""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0:
            return place == len(text) - 1
    return False
