"""Every single fault that can be made in a file: one operator, constant, index, key, flag or sign turned, by `ast`.

Not turned is what no number depends on: annotations, decorators, assertions, and the text of refusals.
"""

import ast
import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path

COMPARISONS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.Pow: ("**", "*"),
    ast.FloorDiv: ("//", "/"), ast.Mod: ("%", "//"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"), ast.BitXor: ("^", "|"),
}  # fmt: skip
PAIRS = (
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("floor", "ceil"), ("zeros", "ones"),
    ("log", "log2"), ("sum", "mean"), ("cos", "sin"),
)  # fmt: skip
NAMES = dict(PAIRS) | {b: a for a, b in PAIRS}
TEXT = {"SpecError", "Damaged", "warn", "ValueError", "print"}  # calls whose arguments people read
UNREAD = {"strict", "stacklevel", "indent", "static"}  # keywords that guard, decorate or tell the compiler
MEMBER_KEYS = {"key": "test", "test": "key"}


@dataclasses.dataclass(frozen=True)
class Site:
    """Where one text stands for another."""

    file: str  # under src/sorites
    function: str  # its qualified name; <module> outside of any
    line: int
    kind: str
    start: int  # in bytes
    old: str
    new: str
    order: int  # among the equal ones of this function

    @property
    def case(self) -> str:
        """The same after an edit elsewhere in the file."""
        said = f"{self.file}:{self.function}:{self.kind}:{self.old}:{self.new}:{self.order}"
        return hashlib.sha256(said.encode()).hexdigest()[:10]

    def applied(self, source: bytes) -> bytes:
        end = self.start + len(self.old.encode())
        assert source[self.start : end] == self.old.encode(), self
        return source[: self.start] + self.new.encode() + source[end:]


def sites(path: Path, name: str) -> list[Site]:
    """All faults of a file that still compile, in its order."""
    source = path.read_bytes()
    found, seen = [], {}
    for function, node, kind, start, old, new in _Walk(source).faults():
        order = seen[same] = seen.get(same := (function, kind, old, new), -1) + 1
        site = Site(name, function, node.lineno, kind, start, old, new, order)
        try:
            compile(site.applied(source), name, "exec")
        except SyntaxError:
            continue
        found.append(site)
    return found


class _Walk:
    def __init__(self, source: bytes):
        self.source, self.tree = source, ast.parse(source)
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.keys = sorted(
            {
                node.slice.value
                for node in ast.walk(self.tree)
                if isinstance(node, ast.Subscript) and isinstance(getattr(node.slice, "value", None), str)
            }
        )

    def faults(self) -> Iterator[tuple]:
        yield from self._visit(self.tree, [], "constant", {})

    def _visit(self, node: ast.AST, names: list[str], role: str, split: dict[str, str]) -> Iterator[tuple]:
        """The faults in a node; `role`: what a whole number here is; `split`: keys of one split, each with another."""
        if isinstance(node, ast.AnnAssign):
            children = [node.value]
        elif isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
            return
        elif isinstance(node, ast.FunctionDef):
            names = [*names, "<locals>", node.name] if names and names[-1] != "<class>" else [*names[:-1], node.name]
            split = split | _split_keys(node)
            children = [*node.args.defaults, *node.args.kw_defaults, *node.body]
        elif isinstance(node, ast.ClassDef):
            inside = names[:-1] if names and names[-1] == "<class>" else [*names, "<locals>"] if names else []
            names, children = [*inside, node.name, "<class>"], node.body
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in TEXT:
                return
            if called == "fold_in" and len(node.args) == 2:
                whole = self._text(node)
                yield self._at(names), node, "key", self._start(node), whole, self._text(node.args[0])
            first = node.args[:1] if called == "require" else node.args
            children = [node.func, *first, *(word for word in node.keywords if word.arg not in UNREAD)]
        else:
            children = list(ast.iter_child_nodes(node))
        for kind, start, old, new in self._here(node, role, split):
            yield self._at(names), node, kind, start, old, new
        for child in children:
            if child is None or (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
                continue
            inner = role
            if isinstance(node, ast.Subscript):
                inner = "index" if child is node.slice else "constant"
            elif isinstance(node, ast.keyword):
                inner = "axis" if node.arg == "axis" else "constant"
            yield from self._visit(child, names, inner, split)

    def _here(self, node: ast.AST, role: str, split: dict[str, str]) -> Iterator[tuple]:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
                yield from self._between(left, right, "comparison", *COMPARISONS[type(operator)])
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            yield from self._between(node.left, node.right, "arithmetic", *ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
            yield from self._between(node.target, node.value, "arithmetic", *ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from self._between(node.values[0], node.values[1], "boolean", old, new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            kind = "sign" if isinstance(node.op, ast.USub) else "boolean"
            yield kind, self._start(node), self._text(node), self._text(node.operand)
        elif isinstance(node, ast.Constant):
            new = self._other(node.value, role)
            if new is not None:
                kind = "boolean" if isinstance(node.value, bool) else "key" if isinstance(node.value, str) else role
                yield kind, self._start(node), self._text(node), new
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            new = NAMES.get(node.id) or split.get(node.id)
            if new is not None:
                yield ("extreme" if node.id in NAMES else "key"), self._start(node), node.id, new
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            new = NAMES.get(node.attr)
            if new is None and isinstance(node.value, ast.Name) and node.value.id == "member":
                new = MEMBER_KEYS.get(node.attr)
            if new is not None:
                start = self._end(node) - len(node.attr)
                yield ("key" if node.attr in MEMBER_KEYS else "extreme"), start, node.attr, new

    def _other(self, value: object, role: str) -> str | None:
        """Another constant; of texts only the keys of a subscript, for another key of this file."""
        if isinstance(value, bool):
            return str(not value)
        if isinstance(value, int):
            return str(value + 1)
        if isinstance(value, float):
            return repr(value * 1000 if 0 < value < 1e-3 else value * 0.9 if value else 1.0)
        if isinstance(value, str) and role == "index" and len(self.keys) > 1:
            return repr(self.keys[(self.keys.index(value) + 1) % len(self.keys)]) if value in self.keys else None
        return None

    def _between(self, left: ast.expr, right: ast.expr, kind: str, old: str, new: str) -> Iterator[tuple]:
        first = self._end(left)
        between = self.source[first : self._start(right)].decode()
        if between.count(old) == 1 and "#" not in between:
            yield kind, first + len(between[: between.index(old)].encode()), old, new

    def _at(self, names: list[str]) -> str:
        return ".".join(names) if names and names[-1] != "<class>" else "<module>"

    def _start(self, node) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def _end(self, node) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node) -> str:
        return self.source[self._start(node) : self._end(node)].decode()


def _split_keys(function: ast.FunctionDef) -> dict[str, str]:
    """Names that one `random.split` gave, each with the next."""
    found = {}
    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)):
            continue
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith("random.split"):
            names = [getattr(each, "id", "") for each in node.targets[0].elts]
            found |= {name: names[(place + 1) % len(names)] for place, name in enumerate(names)}
    return found
