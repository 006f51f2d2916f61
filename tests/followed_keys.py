"""Which random keys an operation draws from: it is traced, and only its arithmetic on keys is evaluated, through every
loop, vmap and inner program."""

import math
from collections import Counter, defaultdict

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

CORE = ("tasks", "models", "supervision", "probes", "training", "fast", "sweeps", "store")
UNKNOWN = object()  # a value that no key may depend on: floats, and whatever was drawn


class Keys:
    """How often each key is drawn from, and by which lines; and which keys are split or folded."""

    def __init__(self):
        self.drawn, self.divided, self.places = Counter(), set(), defaultdict(set)

    def draw(self, keys, place: str) -> None:
        for key in rows_of(keys):
            self.drawn[key] += 1
            self.places[key].add(place)

    def twice(self) -> dict:
        """The keys that are drawn from more than once."""
        return {key: self.places[key] for key, count in self.drawn.items() if count > 1}

    def both(self) -> dict:
        """The keys that are drawn from, and split or folded."""
        return {key: self.places[key] for key in self.drawn.keys() & self.divided}


def rows_of(keys) -> list[tuple[int, int]]:
    return [tuple(row) for row in np.asarray(jax.random.key_data(keys)).reshape(-1, 2).tolist()]


def keys_of(operation) -> Keys:
    """Follow the keys of a function without arguments."""
    found, traced = Keys(), jax.make_jaxpr(operation)()
    _follow(traced.jaxpr, [_known(value) for value in traced.consts], [], found)
    return found


def _known(value):
    """Keys and small whole numbers are followed."""
    if value is UNKNOWN or math.prod(value.shape) > 2**16:
        return UNKNOWN
    whole = any(jnp.issubdtype(value.dtype, kind) for kind in (jax.dtypes.prng_key, jnp.integer, jnp.bool_))
    return value if whole else UNKNOWN


def _follow(jaxpr: Jaxpr, consts: list, values: list, found: Keys) -> list:
    seen = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *values], strict=True))

    def read(atom):
        return _known(np.asarray(atom.val)) if isinstance(atom, Literal) else seen[atom]

    for equation in jaxpr.eqns:
        results = _apply(equation, [read(atom) for atom in equation.invars], found)
        seen |= dict(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _apply(equation, values: list, found: Keys) -> list:
    name, unknown = equation.primitive.name, [UNKNOWN] * len(equation.outvars)
    if name in ("random_bits", "random_unwrap"):
        assert values[0] is not UNKNOWN, f"a key that cannot be followed: {_line(equation)}"
        found.draw(values[0], _line(equation))
        return unknown
    if name in ("random_split", "random_fold_in"):
        assert all(value is not UNKNOWN for value in values), f"a key that cannot be followed: {_line(equation)}"
        found.divided.update(rows_of(values[0]))
    inner = list(_inner(equation.params))
    if inner and not any(map(_random, inner)):
        return unknown
    if name == "scan":
        return _scan(equation.params, values, found)
    if name == "while":
        return _while(equation.params, values, found)
    if name == "cond":
        return _cond(equation.params["branches"], values, found, unknown)
    if inner:
        [inner] = inner
        return _follow(inner.jaxpr, [_known(value) for value in inner.consts], values, found)
    if name == "platform_index" or any(value is UNKNOWN for value in values):
        return unknown
    results = equation.primitive.bind(*values, **equation.params)
    return [_known(value) for value in (results if equation.primitive.multiple_results else [results])]


def _scan(params, values, found):
    body, consts, carried = params["jaxpr"], params["num_consts"], params["num_carry"]
    fixed, carry, rows = values[:consts], values[consts : consts + carried], values[consts + carried :]
    inner, stacked = [_known(value) for value in body.consts], []
    for number in range(params["length"])[:: -1 if params["reverse"] else 1]:
        here = [UNKNOWN if row is UNKNOWN else row[number] for row in rows]
        results = _follow(body.jaxpr, inner, [*fixed, *carry, *here], found)
        carry, stacked = results[:carried], results[carried:]
    return [*carry, *(UNKNOWN for _ in stacked)]


def _while(params, values, found):
    """Turn by turn; once, where the number of turns depends on what was drawn."""
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    asked, fixed, carry = values[:first], values[first:second], values[second:]
    while True:
        [turn] = _follow(condition.jaxpr, [_known(value) for value in condition.consts], [*asked, *carry], found)
        if turn is not UNKNOWN and not turn:
            return carry
        carry = [UNKNOWN for _ in carry] if turn is UNKNOWN else carry
        carry = _follow(body.jaxpr, [_known(value) for value in body.consts], [*fixed, *carry], found)
        if turn is UNKNOWN:
            return [UNKNOWN for _ in carry]


def _cond(branches, values, found, unknown):
    """One branch runs: where it is not known which, a key counts as often as in the branch that draws most."""
    if values[0] is not UNKNOWN:
        branch = branches[int(np.clip(values[0], 0, len(branches) - 1))]
        return _follow(branch.jaxpr, [_known(value) for value in branch.consts], values[1:], found)
    before, most = Counter(found.drawn), Counter(found.drawn)
    for branch in branches:
        found.drawn = Counter(before)
        _follow(branch.jaxpr, [_known(value) for value in branch.consts], values[1:], found)
        most |= found.drawn
    found.drawn = most
    return unknown


def _inner(params):
    for value in params.values():
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, ClosedJaxpr):
                yield each
            elif isinstance(each, Jaxpr):
                yield ClosedJaxpr(each, ())


def _random(closed) -> bool:
    return any(
        equation.primitive.name.startswith("random_") or any(map(_random, _inner(equation.params)))
        for equation in closed.jaxpr.eqns
    )


def _line(equation) -> str:
    """The lines of the core that asked for this, the innermost first."""
    traceback = equation.source_info.traceback
    frames = [(frame.file_name.partition("/sorites/")[2], frame.line_num) for frame in traceback.frames]
    return " < ".join(f"{name}:{line}" for name, line in frames if name.split("/")[0] in CORE)
