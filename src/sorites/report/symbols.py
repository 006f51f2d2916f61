"""The symbols that a statement of the ledger may hold, and how it falls into tokens."""

import dataclasses
import re

GREEK = [
    "alpha", "beta", "gamma", "delta", "epsilon", "eta", "kappa", "lambda", "mu", "nu", "phi", "psi", "pi",
    "rho", "sigma", "tau", "theta", "xi", "zeta", "varpi", "Delta", "Lambda", "Omega", "Psi", "Xi", "Phi",
]  # fmt: skip
SYMBOLS = {name: f"\\{name}" for name in GREEK} | {"eps": "\\epsilon", "grad": "\\nabla", "xor": "\\oplus"}
FUNCTIONS = {name: f"\\{name}" for name in ["log", "ln", "exp", "cos", "sin", "cosh", "max", "min"]} | {
    "log2": "\\log_2"
}
NAMES = ["Var", "Pr", "Attn", "Ent", "Binomial", "sReLU", "softmax", "round", "ceil", "sign", "sgn", "Cov"]  # upright
PRODUCTS = ["ab", "nk", "nB", "TB", "NK", "mn"]  # letters that are meant one by one
UPPER = {"x", "y", "W"}  # letters whose bracketed superscript is an index
WORDS = {"a", "A", "I"}  # letters that are words, unless something hangs on them
OPERATORS = {
    "<=": "\\le", ">=": "\\ge", "->": "\\to", "<-": "\\leftarrow", "=": "=", "<": "<", ">": ">", "+": "+", "-": "-",
    "/": "/", "*": "\\cdot", "~": "\\sim", "±": "\\pm", "xor": "\\oplus",
}  # fmt: skip
SEPARATORS = {",": ",", ";": ";", ":": ":", "|": "\\mid"}
PAIRS = {"(": ")", "[": "]", "{": "}"}
SIGNS = (("<=", "≤"), (">=", "≥"), ("->", "→"))  # among words
PLACES = "Fig|App|Thm|Sec|Eq|Def|Prop|Lemma|Fact|Theorem|Corollary|Assumption|Induction|Table|Algorithm"
TOKEN = re.compile(
    rf"(?P<space>\s+)|(?P<place>\b(?:{PLACES})s?\.?\s[A-Z0-9](?:[\w.]*\w)?(?:\([a-z0-9-]+\))?)"
    r"|(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)"
    r"|(?P<hat>\b[a-zA-Z]-(?:hat|bar|tilde)\b)|(?P<id>\b(?:(?:LI|KS|RS)-|W|L)\d+\b)|(?P<dots>\.\.+)"
    r"|(?P<name>[A-Za-z]+\d*)|(?P<prime>'(?![a-zA-Z]))|(?P<power>[²³])|(?P<operator><=|>=|->|<-|[=<>+\-/*~±])"
    r"|(?P<other>.)"
)


@dataclasses.dataclass
class Token:
    kind: str
    text: str
