"""A sweep trains what `train` trains, finds it again, ends by stated rules, and says what everything cost."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sorites as so
from sorites.cli.main import main
from sorites.errors import SpecError
from sorites.store import Store, identities
from sorites.store.groups import split_evenly
from sorites.sweeps import drive, plan_of
from sorites.sweeps.endings import budget, cut
from sorites.sweeps.local import Here
from sorites.sweeps.plan import room_for
from sorites.training import train

SEEDS = [0, 3, 5]


def whole(rate: float, batch: int = 32, curriculum: str = "teacher-forcing") -> so.Run:
    task = so.Parity(bits=6, sparsity=4)
    checks = so.Evaluation(every=2, count=64, probes=(so.Loss(), so.Outcome("rolled")))
    terms = so.CURRICULA[curriculum](task.layout)
    return so.Run(so.positional(task), so.stages(task, terms, so.Sampled(batch), so.GD(rate), 8, checks))


def taught(rate: float, batch: int = 32, curriculum: str = "teacher-forcing") -> so.Run:
    return whole(rate, batch, curriculum).until_goal()


@pytest.fixture(scope="module")
def grid():
    return so.grid(taught, rate=(1.0, 10.0), batch=(32, 64))


@pytest.fixture(scope="module")
def table(grid):
    return so.sweep(grid, SEEDS)


def test_a_sweep_trains_what_train_trains(grid, table):
    """Point by point, the same numbers."""
    for point, run in zip(grid.points, grid.runs(), strict=True):
        history = train(run, SEEDS, strategy="vmap").history
        here = table.members.filter(rate=point["rate"], batch=point["batch"])
        assert here["seed"].to_list() == SEEDS
        assert here["solved_at"].fill_null(-1).to_list() == history.solved_at.tolist()
        assert here["samples"].to_list() == history.samples.tolist()
        last = (
            table.evaluations.filter(rate=point["rate"], batch=point["batch"])
            .group_by("seed", maintain_order=True)
            .last()
        )
        np.testing.assert_allclose(last["own.loss"].to_numpy(), history.last("own.loss"), rtol=1e-5)


def test_costs_are_counted(table):
    members = table.members
    assert (members["labels"] == 3 * members["samples"]).all()  # three thoughts are taught
    assert (members["thoughts"] == 0).all()
    assert (members["passes"] == 2).all()  # a tree of two levels, written level by level
    # forward, and backward to the weights: 3 thoughts x 9 positions x 2 operations each
    assert (members["flops"] == members["samples"] * 2 * 2 * 3 * 9).all()
    assert set(members["ended_by"]) <= {"goal", "budget"}
    assert ((members["ended_by"] == "goal") == members["solved"]).all()


def test_own_thoughts_and_stages_cost_more():
    run = so.run_named("parity", "positional", "own-greedy", steps=25)
    task = run.task
    first = so.sweep({"own": run}, [0]).members.row(0, named=True)
    assert first["thoughts"] == first["samples"] * task.layout.thoughts
    staged = so.sweep([taught(1.0, curriculum="log-icot")], [0]).members.row(0, named=True)
    assert staged["samples"] == 2 * 8 * 32
    assert staged["labels"] == 8 * 32 * (3 + 1)  # three thoughts in the first stage, the answer in the second


def test_programs_are_shared(grid):
    _, _, plan = plan_of(grid, SEEDS)
    assert [each.runs for each in plan.programs] == [(0, 2), (1, 3)]  # the batch is the compile key, the rate is not
    assert plan.members == 12
    costs = [each.seconds for each in plan.ensembles]
    assert costs == sorted(costs, reverse=True)
    assert [len(part) for part in split_evenly(range(10), 4)] == [3, 3, 4]


def test_ensembles_fit_into_memory(grid, monkeypatch):
    run = grid.runs()[0]
    from sorites.training.memory import bytes_needed

    monkeypatch.setattr("sorites.sweeps.plan.free_memory", lambda: 8 * bytes_needed(run))
    assert room_for(run) == 4
    monkeypatch.setattr("sorites.sweeps.plan.free_memory", lambda: bytes_needed(run) // 2)
    with pytest.raises(SpecError, match="out of memory"):
        room_for(run)


def test_a_store_makes_a_sweep_once(grid, table, tmp_path, monkeypatch):
    store = Store(tmp_path)
    first = so.sweep(grid, SEEDS, store)
    assert first.taken == 0
    same = [name for name in table.members.columns if name not in ("member", "seconds")]
    assert first.members.select(same).equals(table.members.select(same))
    assert not any(folder.has_models for folder in store.folders())
    monkeypatch.setattr("sorites.store.store.train", lambda *_, **__: pytest.fail("trained again"))
    again = so.sweep(grid, SEEDS, Store(tmp_path))
    assert again.taken == 12
    assert again.members.equals(first.members)
    assert again.evaluations.equals(first.evaluations)


def test_what_was_killed_goes_on(grid, tmp_path):
    """An error in the second ensemble: the first is stored, and is not trained again."""
    store, calls = Store(tmp_path), []

    def watch(now):
        calls.append(now)
        if now.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        so.sweep(grid, SEEDS, store, watch=watch)
    assert sum(len(folder.ids) for folder in store.folders()) == 6
    table = so.sweep(grid, SEEDS, store)
    assert table.taken == 6
    assert len(table.members) == 12


def test_weights_are_kept_where_they_are_wanted(tmp_path):
    store, run = Store(tmp_path), taught(1.0)
    so.sweep([run], SEEDS, store, weights=True)
    assert all(store.find(run, SEEDS))


@pytest.mark.parametrize("run", [whole, taught], ids=["to the end", "until the goal"])
def test_store_train_finds_the_members_of_a_sweep(run, tmp_path, monkeypatch):
    """The runs are trained as they are given: nothing is left to train."""
    store, given = Store(tmp_path), run(10.0)
    table = so.sweep([given], SEEDS, store, weights=True)
    assert table.members["member"].to_list() == [each.id for each in identities(given, SEEDS)]
    monkeypatch.setattr("sorites.store.store.train", lambda *_, **__: pytest.fail("trained again"))
    trained = Store(tmp_path).train(given, SEEDS)
    assert trained.history.solved_at.tolist() == table.members["solved_at"].fill_null(-1).to_list()


def test_until_goal_leaves_the_last_stage_at_the_goal():
    run = whole(10.0)
    assert run.stages[-1].until is None
    short = run.until_goal()
    assert short.stages[-1].until == short.goal == run.goal
    assert short.until_goal() is short  # it leaves its last stage already
    both = [train(each, SEEDS, strategy="vmap").history for each in (run, short)]
    assert np.array_equal(both[0].solved_at, both[1].solved_at)
    costs = [so.sweep([each], SEEDS).members for each in (run, short)]
    assert costs[0].select("samples", "ended_by").equals(costs[1].select("samples", "ended_by"))
    staged = so.Run(run.model, [*run.stages, dataclasses.replace(run.stages[0])]).until_goal()
    assert [stage.until for stage in staged.stages] == [None, staged.goal]
    loss = dataclasses.replace(run.stages[0].evaluation, probes=(so.Loss(),))
    aimless = so.Run(run.model, [dataclasses.replace(run.stages[0], evaluation=loss)])
    assert aimless.until_goal() is aimless


def test_halving_ends_the_worst_and_says_so():
    ending = so.Halving(first=2)
    assert ending.budgets(8) == [2, 4]
    assert ending.ended(np.array([0.1, 0.9, np.nan, 0.5, 0.5]), falls=False).tolist() == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert ending.ended(np.array([0.1, 0.9]), falls=True).tolist() == [False, True]
    grid = so.grid(taught, rate=(0.01, 0.02, 5.0, 6.0))
    table = so.sweep(grid, SEEDS, ending=ending)
    ended = table.members.filter(pl.col("ended_by").str.starts_with("halving"))
    assert len(table.members) == 12
    assert set(ended["ended_by"]) == {"halving at 2", "halving at 4"}
    assert not ended["solved"].any()
    assert set(ended.filter(ended_by="halving at 2")["samples"]) == {2 * 32}
    full = so.sweep(grid, SEEDS).members
    done = table.members.filter(~pl.col("ended_by").str.starts_with("halving"))
    both = done.join(full, on=["rate", "seed"], suffix="_whole")
    assert (both["samples"] == both["samples_whole"]).all()  # a look is a prefix of the whole training
    assert both["solved_at"].equals(both["solved_at_whole"], null_equal=True)


def test_a_look_is_a_prefix():
    run = taught(5.0, curriculum="log-icot")
    assert budget(run) == 16
    short = cut(run, 11)
    assert [int(stage.steps) for stage in short.stages] == [8, 4]
    part, longer = (train(each, SEEDS, strategy="vmap").history for each in (short, run))
    records = len(part.step)
    np.testing.assert_array_equal(part.metrics["own.loss"], longer.metrics["own.loss"][:, :records])


def test_futility_is_a_bound():
    table = so.sweep(so.grid(taught, rate=(0.001, 10.0)), SEEDS, ending=so.Futility(4, 0.9))
    slow = table.members.filter(rate=0.001)
    assert set(slow["ended_by"]) == {"futility at 4"}
    assert so.Futility(4, 0.5).ended(np.array([0.4, 0.6, np.nan]), falls=True).tolist() == [False, True, True]


def test_grids_multiply_zip_and_choose():
    grid = so.grid(taught, rate=(1.0, 2.0)).zipped(batch=(8, 16), curriculum=("direct", "icot"))
    assert len(grid) == 4
    assert grid.points[1] == {"rate": 1.0, "batch": 16, "curriculum": "icot"}
    assert len(grid.where(lambda batch, rate: batch > 8 and rate < 2)) == 1
    assert len(grid + so.grid(taught, rate=(3.0,), batch=(8,), curriculum=("direct",))) == 5


BAD = {
    "a misspelt name": (lambda: so.grid(taught, rat=(1.0,)), "did you mean 'rate'"),
    "a wrong type": (lambda: so.grid(taught, rate=("fast",)), "rate is a float"),
    "no list": (lambda: so.grid(taught, rate=1.0), "write rate=(1.0,)"),
    "axes of two lengths": (lambda: so.grid(taught).zipped(rate=(1.0,), batch=(1, 2)), "equally long"),
    "a refused run": (lambda: so.sweep(so.grid(taught, rate=(-1.0,)), [0]), "rate=-1.0: a rate is a positive"),
    "nothing": (lambda: so.sweep([], [0]), "needs a run"),
    "no seeds": (lambda: so.sweep([taught(1.0)], []), "at least one seed"),
    "no run": (lambda: so.sweep([1], [0]), "made of Runs"),
    "an unknown engine": (lambda: so.sweep([taught(1.0)], [0], engine="slurm"), "local or ray"),
    "an address without a cluster": (lambda: so.sweep([taught(1.0)], [0], address="a:1"), "with engine ray"),
    "twice the same point": (lambda: so.sweep(so.grid(taught, rate=(1.0, 1.0)), [0]), "a point is there once"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refusals(name):
    call, words = BAD[name]
    with pytest.raises(SpecError, match=words.replace("(", r"\(").replace(")", r"\)")):
        call()


class Leaky(Here):
    """A worker that is lost on the first try, and out of memory on the second."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def outcome(self, handle):
        self.calls.append(len(self._job.seeds))
        if len(self.calls) == 1:
            raise ConnectionError("gone")
        if len(self.calls) == 2:
            raise MemoryError
        return super().outcome(handle)

    def lost(self, error):
        return isinstance(error, ConnectionError)


def test_the_lost_begin_again_and_the_large_are_split(monkeypatch):
    crew = Leaky()
    monkeypatch.setattr(drive, "PAUSE", 0.01)
    monkeypatch.setattr("sorites.sweeps.sweeping._crew", lambda *_: crew)
    with pytest.warns(UserWarning, match="members") as said:
        table = so.sweep([taught(1.0)], [0, 1, 2, 3])
    assert crew.calls == [4, 4, 2, 2]
    assert [str(each.message).split(" (")[0] for each in said] == [
        "a worker was lost",
        "4 members do not fit into memory: they are trained in two halves",
    ]
    assert table.members["seed"].to_list() == [0, 1, 2, 3]


def test_a_failure_is_counted_and_the_rest_goes_on(grid, monkeypatch):
    real = Here.outcome

    def outcome(self, handle):
        if self._job.runs[0].stages[0].source.batch == 64:
            raise RuntimeError("broken")
        return real(self, handle)

    monkeypatch.setattr(Here, "outcome", outcome)
    table = so.sweep(grid, SEEDS)
    assert table.failed == ((6, "RuntimeError: broken"),)
    assert set(table.members["batch"]) == {32}


@pytest.fixture
def full(monkeypatch):
    """A disk without space for folders of members."""

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sorites.store.folder.write_synced", fail)


def test_a_table_without_members_has_its_columns(grid, table, tmp_path, full):
    empty = so.sweep(grid, SEEDS, Store(tmp_path / "store"))
    assert "No space left" in empty.failure
    assert empty.failure.startswith("12 members failed: SpecError: ")
    assert empty.members.schema == table.members.schema
    assert empty.evaluations.schema["step"] == table.evaluations.schema["step"]
    assert empty.summary("rate").schema == table.summary("rate").schema
    assert so.sweep([taught(1.0)], SEEDS, Store(tmp_path / "store")).summary().is_empty()
    assert empty.write(tmp_path / "out").is_dir()
    with pytest.raises(SpecError, match="No space left"):
        empty.plot("rate")


GRID = """
import sorites as so
task = so.Parity(bits=6, sparsity=4)
checks = so.Evaluation(every=2, count=64, probes=(so.Loss(),))
def taught(batch):
    terms = so.CURRICULA["teacher-forcing"](task.layout)
    return so.Run(so.positional(task), so.stages(task, terms, so.Sampled(batch), so.GD(1.0), 4, checks))
sweep = so.grid(taught, batch=(32, 64))
seeds = [0, 1]
"""


def test_the_command_says_why_every_member_failed(tmp_path, monkeypatch, capsys, full):
    monkeypatch.chdir(tmp_path)
    Path("grid.py").write_text(GRID)
    assert main(["sweep", "grid.py", "--out", "found", "--quiet"]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("sorites: 4 members failed: SpecError: ")
    assert "No space left" in first
    assert "found/members.parquet lacks 4 of 4 rows" in second
    assert pl.read_parquet("found/members.parquet")["solved"].dtype == pl.Boolean


def test_the_command_says_which_rows_are_missing(tmp_path, monkeypatch, capsys):
    real = Here.outcome

    def outcome(self, handle):
        if self._job.runs[0].stages[0].source.batch == 64:
            raise RuntimeError("broken")
        return real(self, handle)

    monkeypatch.setattr(Here, "outcome", outcome)
    monkeypatch.chdir(tmp_path)
    Path("grid.py").write_text(GRID)
    assert main(["sweep", "grid.py", "--out", "found", "--quiet"]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == "sorites: 2 members failed: RuntimeError: broken"
    assert "lacks 2 of 4 rows" in second
    assert len(pl.read_parquet("found/members.parquet")) == 2


@pytest.mark.parametrize("seeds", ["[-1]", "[0.0, 0.4]", "[True]", "[1, 1]"])
def test_the_command_refuses_what_is_no_seed(tmp_path, monkeypatch, capsys, seeds):
    monkeypatch.chdir(tmp_path)
    Path("grid.py").write_text(GRID.replace("[0, 1]", seeds))
    assert main(["sweep", "grid.py"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "got the seed" in said or "given twice" in said


def test_two_processes_make_the_same_table(grid, table, tmp_path):
    there = so.sweep(grid, SEEDS, Store(tmp_path), processes=2)
    same = [name for name in table.members.columns if name not in ("member", "seconds")]
    assert there.members.select(same).equals(table.members.select(same))


def test_pictures(table, tmp_path):
    for words in (("rate",), ("rate", "samples", "batch"), ("rate", "batch"), ("rate", "batch", "samples")):
        assert table.plot(*words).axes
    with pytest.raises(SpecError, match="a column here"):
        table.plot("rat")
    found = table.summary("rate")
    assert found["members"].to_list() == [6, 6]
    assert (found["low"] <= found["share"] + 1e-9).all()
    table.write(tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out" / "evaluations.parquet").equals(table.evaluations)


FILE = """
import sorites as so
from sorites.training import Evaluation

def taught(rate: float, batch: int = 32):
    task = so.Parity(6, 4)
    checks = Evaluation(2, 64, (so.Loss(), so.Outcome("rolled")))
    terms = [so.teacher_forcing(task.layout)]
    plan = so.stages(task, terms, so.Sampled(batch), so.GD(rate), 4, checks)
    return so.Run(so.positional(task), plan).until_goal()

sweep = so.grid(taught, rate=(1.0, 5.0), batch=(16, 32))
seeds = range(2)
"""


@pytest.fixture
def sorites(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SORITES_STORE", raising=False)
    (tmp_path / "mine.py").write_text(FILE)

    def run(*words):
        status = main(["sweep", "mine.py", *words])
        return status, *capsys.readouterr()

    return run


def test_the_command_plans_trains_and_goes_on(sorites, tmp_path):
    status, out, _ = sorites("--dry-run", "--json", "-")
    assert status == 0
    assert json.loads(out)["members"] == 8
    assert not (tmp_path / "sorites-store").exists()
    assert sorites("--resume")[0] == 2
    status, out, _ = sorites("--only", "rate>=2", "--only", "batch=16|64", "--json", "-")
    assert [(row["rate"], row["batch"], row["seed"]) for row in json.loads(out)] == [(5.0, 16, 0), (5.0, 16, 1)]
    status, out, _ = sorites("--resume", "--out", "found")
    assert status == 0
    assert "8 members, 2 of them taken from the store" in " ".join(out.split())
    assert (tmp_path / "found" / "members.parquet").is_file()
    assert len(json.loads(sorites("--limit", "1", "--seeds", "3", "--json", "-")[1])) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--only", "rat=1"), "'rat'"), (("--only", "rate"), "comparisons"), (("--only", "rate=7"), "leaves none"),
     (("--limit", "0"), "needs a run"), (("--seeds", "x"), "whole numbers"), (("--only", "rate=x"), "a number")],
)  # fmt: skip
def test_the_command_refuses(sorites, words, said):
    status, _, err = sorites(*words)
    assert status == 2
    assert said in err


def test_the_tally_counts(grid):
    seen = []
    so.sweep(grid, SEEDS, watch=seen.append)
    assert [each.done for each in seen if not each.running] == [12]
    assert seen[-1].members == 12
    assert dataclasses.is_dataclass(seen[-1])


ROOT = Path(__file__).parents[2]


def test_the_example_plans(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = str(ROOT / "examples" / "sweep" / "rates_and_noise.py")
    assert main(["sweep", path, "--dry-run", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["members"], len(found["programs"])) == (320, 1)


def test_the_documented_sweep_plans():
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "sweeps.md").read_text(), flags=re.DOTALL)
    names: dict = {}
    exec(block.split("table = ")[0], names)
    assert plan_of(names["grid"], range(2))[2].members == 10
