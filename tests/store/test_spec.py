import dataclasses
import functools
import importlib
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.store import describe, fingerprint, member_id
from sorites.tasks import Boolean, Gate, Parity
from sorites.tasks.gates import parity
from sorites.training import GD, Adam


def test_fields_equal_to_their_default_are_left_out():
    assert describe(Parity(6, 4)) == {"kind": "sorites.tasks.boolean.Boolean", "bits": 6, "sparsity": 4}
    assert describe(Boolean(6, 4, "and"))["gate"]["name"] == "and"
    assert describe(Adam(0.25)) == {
        "kind": "sorites.training.optimizers.Adam",
        "rate": {"array": 0.25, "dtype": "float32"},
    }


def test_arrays_by_value_or_by_hash():
    assert describe(np.arange(3, dtype=np.int32)) == {"array": [0, 1, 2], "dtype": "int32"}
    assert describe(jnp.arange(3)) == describe(np.arange(3, dtype=np.int32))
    large = describe(np.zeros((9, 9), np.float32))
    assert large["shape"] == [9, 9]
    assert len(large["sha256"]) == 64
    assert "sha256" in describe(np.array([np.nan]))
    assert "sha256" in describe(np.ones(2, jnp.bfloat16)) or describe(np.ones(2, jnp.bfloat16))["array"]
    assert describe(jax.random.key(1)) != describe(jax.random.key(2))


def test_functions_by_name():
    assert describe(parity) == "sorites.tasks.gates:parity"
    assert describe(Gate) == "sorites.tasks.gates:Gate"
    assert describe(functools.partial(parity, 1))["function"] == "sorites.tasks.gates:parity"


def test_the_same_value_of_another_type_is_another_spec():
    @dataclasses.dataclass(frozen=True)
    class Local:
        x: float = 0

    Local.__qualname__ = "Local"
    assert "x" not in describe(Local())
    assert describe(Local(False))["x"] is False  # pyright: ignore


@pytest.mark.parametrize("thing", [lambda x: x, {1: 2}, object(), {1, 2}])
def test_what_has_no_lasting_name_is_refused(thing):
    with pytest.raises(SpecError, match="a stored spec"):
        describe(thing)


def test_local_functions_and_classes_are_refused():
    def local(a, b):
        return a

    @dataclasses.dataclass(frozen=True)
    class Local:
        pass

    for thing in (Gate("mine", local), Local()):
        with pytest.raises(SpecError, match="top level of a file"):
            describe(thing)


def test_descriptions_are_json(run):
    assert json.loads(json.dumps(describe(run), allow_nan=False)) == describe(run)
    assert json.dumps(describe({"x": float("inf")}), allow_nan=False)


def test_ids_are_stable_and_sensitive(run, make):
    assert member_id(run, 0) == member_id(make(), 0)
    assert len(member_id(run, 0)) == 16
    others = [make(rate=0.25), make(sparsity=2), make(steps=6)]
    ids = {member_id(run, 0), member_id(run, 1), *(member_id(other, 0) for other in others)}
    assert len(ids) == 5


def test_an_edited_script_is_another_member(tmp_path, monkeypatch):
    script = tmp_path / "my_sorites_rules.py"
    source = "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Mine:\n    size: int = 1\n"
    script.write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("my_sorites_rules")
    before = fingerprint(module.Mine())
    assert before == fingerprint(module.Mine())
    assert before != fingerprint(GD(1.0))

    script.write_text(source + "# a comment\n")
    assert fingerprint(module.Mine()) == before
    script.write_text(source + "EDITED = 1\n")
    with pytest.raises(SpecError, match="was edited after it was imported; restart Python"):
        fingerprint(module.Mine())
    importlib.invalidate_caches()
    module = importlib.reload(module)
    assert fingerprint(module.Mine()) != before
    script.unlink()
    del sys.modules["my_sorites_rules"]
    with pytest.raises(SpecError, match="save it as a file"):
        fingerprint(module.Mine())
