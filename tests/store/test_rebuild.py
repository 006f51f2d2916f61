"""A stored spec names classes from an allow-list, each of the type its field declares; nothing that it names runs."""

import json
import sys

import equinox as eqx
import jax
import pytest

from sorites.errors import SpecError
from sorites.models import MODELS, AbstractModel
from sorites.models.positional import positional
from sorites.store import Store, describe
from sorites.store.rebuild import rebuild
from sorites.store.spec import large_arrays
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import AbstractTask, Boolean, Composition, Gate, Lego, Parity, Sequences
from sorites.training import GD, Evaluation, Run, stages
from sorites.training.cells import model_named

TASKS = {
    "parity": Parity(6, 4),
    "and": Boolean(6, 4, "and"),
    "sequences": Sequences(bits=8, room=4, sparsity=3, validation=32),
    "composition": Composition("C3", 3),
    "lego": Lego("C3", 2, 6),
}
PAYLOAD = {
    "kind": "partial",
    "function": "builtins:min",
    "arguments": ["touch /tmp/never"],
    "keywords": {"kind": "dict", "items": {"key": "posix:system"}},
}


def rebuilt(thing, declared):
    description = json.loads(json.dumps(describe(thing)))
    return rebuild(description, declared, large_arrays(thing))


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_tasks_come_back(task):
    assert eqx.tree_equal(rebuilt(task, AbstractTask), task)
    assert jax.tree.structure(rebuilt(task, AbstractTask)) == jax.tree.structure(task)


READS = [(name, "parity") for name in MODELS if name != "decoder"]
READS += [("gpt", name) for name in TASKS if name != "parity"] + [("positional", "and"), ("decoder", "lego")]


@pytest.mark.parametrize(("name", "task"), READS)
def test_models_come_back(name, task):
    model = model_named(name, TASKS[task])
    again = rebuilt(model, AbstractModel)
    assert describe(again) == describe(model)
    assert jax.tree.structure(again) == jax.tree.structure(model)


def edited(thing, field, value):
    return describe(thing) | {field: value}


GATE = describe(Gate("xor", Parity(6, 4).gate.rule))
REFUSED = {
    "the audit's payload as a gate's rule": edited(Boolean(6, 4, "and"), "gate", GATE | {"rule": PAYLOAD}),
    "the audit's payload as a mask": edited(positional(Parity(6, 4)), "mask", PAYLOAD),
    "a system call as a gate's rule": edited(Boolean(6, 4, "and"), "gate", GATE | {"rule": "posix:system"}),
    "a built-in as a mask": edited(positional(Parity(6, 4)), "mask", "builtins:exec"),
    "a function that a gate's module imported": edited(
        positional(Parity(6, 4)), "mask", "sorites.models.masks:np.load"
    ),
    "another function of sorites": edited(positional(Parity(6, 4)), "mask", "sorites.tasks.rows:read_rows"),
    "a class as a function": edited(positional(Parity(6, 4)), "mask", "sorites.tasks.gates:Gate"),
    "a method": edited(
        positional(Parity(6, 4)), "mask", {"kind": "method", "name": "draw", "of": describe(Parity(6, 4))}
    ),
    "a partial as the task": PAYLOAD,
    "a process as the task": {"kind": "subprocess.Popen", "args": "true"},
    "a figure, whose field is called `draw`": {"kind": "sorites.papers.figure.Figure", "draw": "posix:system"},
    "a class of sorites that is no model": describe(Parity(6, 4).layout),
    "an error class": {"kind": "sorites.errors.SpecError"},
    "a class that a module of sorites imported": {"kind": "sorites.models.gpt.Chain"},
    "a layout of another class": edited(positional(Parity(6, 4)), "layout", describe(Parity(6, 4))),
    "a string as a layout": edited(positional(Parity(6, 4)), "layout", "posix:system"),
    "a string for a number": edited(Parity(6, 4), "bits", "6"),
    "a list for a number": edited(Parity(6, 4), "bits", [6]),
    "a task for a number": edited(Parity(6, 4), "bits", describe(Parity(6, 4))),
    "an array of objects": edited(positional(Parity(6, 4)), "weights", {"array": [{}], "dtype": "O"}),
    "an unknown module": {"kind": "antigravity.Thing"},
    "no name": {"kind": 3},
    "nothing": None,
    "a dict": {"kind": "dict", "items": {}},
}


@pytest.mark.parametrize("description", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("declared", [AbstractTask, AbstractModel])
def test_what_data_may_not_name_is_refused(description, declared):
    with pytest.raises(SpecError, match="a stored run names"):
        rebuild(description, declared, {})
    assert "antigravity" not in sys.modules


def test_a_string_stays_a_string():
    task = Parity(6, 4)
    named = edited(task, "gate", GATE | {"name": "posix:system"})
    assert rebuild(named, AbstractTask, {}).gate.name == "posix:system"


OWN = """
import sorites as so
from sorites.tasks import Boolean, Gate

def rule(a, b):
    return -a * b

class Mine(Boolean):
    pass

TASK = Boolean(6, 4, Gate("mine", rule))
"""


def test_own_modules_are_named_by_the_user(tmp_path, monkeypatch):
    (tmp_path / "own_gate_of_a_test.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    import own_gate_of_a_test as own  # pyright: ignore[reportMissingImports]

    task = own.TASK
    run = Run(positional(task), stages(task, [teacher_forcing(task.layout)], Sampled(8), GD(0.1), 2, Evaluation(2, 8)))
    store = Store(tmp_path / "store")
    store.train(run, [0])
    (folder,) = store.folders()
    with pytest.raises(SpecError, match=r"own_gate_of_a_test:rule.*modules="):
        store.load(folder.path.name)
    assert store.load(folder.path.name, modules=[own]).task.gate.rule is own.rule
    with pytest.raises(SpecError, match="names"):
        rebuild(PAYLOAD, AbstractTask, {}, modules=[own])
    with pytest.raises(SpecError, match="names"):
        rebuild({"kind": "own_gate_of_a_test.so.Store"}, AbstractTask, {}, modules=[own])
