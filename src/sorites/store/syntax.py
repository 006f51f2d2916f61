"""What one file of Python does: a digest of its syntax tree, and the names that it imports, passes on and defines."""

import ast
import functools
import hashlib
import importlib.util
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

Import = tuple[str, str]  # a module and a name taken from it; "" stands for the whole module
LOADERS = ("import_module", "__import__", "find_spec")  # functions that take the name of a module
UNCOUNTED = ("ctx", "kind", "type_comment")  # fields of a syntax tree that follow from the others, or from layout


class Contents(NamedTuple):
    """What matters of one file."""

    digest: str  # of the syntax tree without docstrings and comments
    imports: tuple[Import, ...]  # at any depth of nesting
    passed: dict[str, Import]  # names that it imports at its top level, and that others may import from it
    defined: frozenset[str]  # names that it assigns or defines at its top level
    acts: str  # digest of the statements that act when the file is imported; "" where none does
    acting: tuple[str, ...]  # names that these statements use
    computed: bool  # whether it imports a module whose name is not written out
    lazy: bool  # whether it defines `__getattr__` for names that it has not got


def read(source: bytes, package: str, stub: bytes | None = None) -> Contents:
    """Read one file without running it.

    Args:
        source: the text of the file.
        package: the package that relative imports start from.
        stub: the text of its `.pyi`, which says where names live that are imported when they are first used.

    Returns:
        Its digest, equal for every version of Python from 3.11 on, and what it imports.

    Raises:
        SyntaxError: where the file is not Python.
    """
    tree = ast.parse(source)
    conditions = [node for node in ast.walk(tree) if isinstance(node, ast.If) and _for_types(node)]
    unused = {id(inner) for node in conditions for part in node.body for inner in ast.walk(part)}
    nodes = [node for node in ast.walk(tree) if id(node) not in unused]
    attributes, loaders = _attributes(nodes), {*LOADERS, *_loaders(nodes)}
    imports, computed = [], False
    for node in nodes:
        imports += _imports(node, package, attributes)
        if isinstance(node, ast.Call) and node.args and _called(node) in loaders:
            given = node.args[0]
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                imports.append((_absolute(given.value, package), ""))
            else:
                computed = True
    passed = _passed(tree.body, package) | ({} if stub is None else _passed(ast.parse(stub).body, package))
    defined = {name for node in tree.body for name in _defined(node)}
    acting = [node for node in tree.body if _acts(node, {*passed, *_functions(tree.body)})]
    names = [node for part in acting for node in ast.walk(part) if isinstance(node, ast.Name)]
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return Contents(
        digest(tree),
        tuple(dict.fromkeys(imports)),
        passed,
        frozenset(defined),
        digest(acting) if acting else "",
        tuple(sorted(used)),
        computed,
        "__getattr__" in defined,
    )


def digest(tree: ast.AST | list[Any]) -> str:
    """Hash a syntax tree.

    Args:
        tree: a tree, or a list of statements.

    Returns:
        Sixteen hexadecimal digits. Docstrings, comments, layout and line numbers do not count.
    """
    text: list[str] = []
    _spell(tree, text.append)
    return hashlib.sha256("".join(text).encode()).hexdigest()[:16]


def _spell(node: Any, add: Any) -> None:
    """Write a tree as text that does not depend on the version of Python: empty fields are left out."""
    if isinstance(node, ast.AST):
        add(f"{type(node).__name__}(")
        for name in _fields(type(node)):
            value = getattr(node, name, None)
            if isinstance(node, ast.JoinedStr):  # Python 3.12 adds empty strings
                value = [part for part in node.values if getattr(part, "value", None) != ""]
            if (value is not None and value != []) or name == "value":
                add(f"{name}=")
                _spell(value, add)
        add(")")
    elif isinstance(node, list):
        add("[")
        for each in node:
            if not _is_text(each):
                _spell(each, add)
        add("]")
    else:
        add(ascii(node) + ",")


@functools.cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in UNCOUNTED)


def _is_text(node: Any) -> bool:
    """Whether a statement is a string alone: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _for_types(node: ast.If) -> bool:
    """Whether a condition is `if TYPE_CHECKING:`, whose body never runs."""
    return "TYPE_CHECKING" in (getattr(node.test, "id", ""), getattr(node.test, "attr", ""))


def _attributes(nodes: Iterable[ast.AST]) -> dict[str, set[str]]:
    """Name -> the attributes that are taken of it; "" among them where it is used in another way."""
    found: dict[str, set[str]] = {}
    bases = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, set()).add(node.attr)
            bases.add(id(node.value))
    for node in nodes:
        if isinstance(node, ast.Name) and id(node) not in bases:
            found.setdefault(node.id, set()).add("")
    return found


def _loaders(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Other names under which the file knows `import_module`."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from (alias.asname for alias in node.names if alias.asname and alias.name in LOADERS)


def _imports(node: ast.AST, package: str, attributes: dict[str, set[str]]) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            root = alias.name.split(".")[0]
            if alias.asname is None and root != alias.name:
                yield alias.name, ""
                yield from ((root, name) for name in attributes.get(root, ()) if name)
            else:
                yield from ((alias.name, name) for name in attributes.get(alias.asname or root, {""}))
    elif isinstance(node, ast.ImportFrom):
        yield from ((_base(node, package), "" if alias.name == "*" else alias.name) for alias in node.names)


def _passed(body: Iterable[ast.stmt], package: str) -> dict[str, Import]:
    found: dict[str, Import] = {}
    for node in body:
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: (_base(node, package), alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.split(".")[0]: _bound(alias) for alias in node.names}
    found.pop("*", None)
    return found


def _bound(alias: ast.alias) -> Import:
    """`import a.b` binds a; `import a.b as c` binds a.b."""
    return (alias.name if alias.asname else alias.name.split(".")[0]), ""


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif not isinstance(node, ast.Import | ast.ImportFrom):
        stored = (each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
        yield from (each.id for each in stored)


def _functions(body: Iterable[ast.stmt]) -> set[str]:
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def _acts(node: ast.stmt, callable_names: set[str]) -> bool:
    """Whether a statement of a package does more than define and pass on names: a call of something that the file
    imports or defines, a loop, a condition."""
    if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
        return False
    if isinstance(node, ast.If) and _for_types(node) and not node.orelse:
        return False
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return bool(node.decorator_list)
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return True
    calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    return any(_root(call) in callable_names for call in calls)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "id", "")


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _base(node: ast.ImportFrom, package: str) -> str:
    return _absolute("." * node.level + (node.module or ""), package)


def _absolute(name: str, package: str) -> str:
    try:
        return importlib.util.resolve_name(name, package) if name.startswith(".") else name
    except ImportError:
        return name.lstrip(".")
