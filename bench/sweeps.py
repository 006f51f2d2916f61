"""What a sweep costs beside its training, and how fast a large store answers.

python bench/sweeps.py overhead [MEMBERS]     the positional transformer, d=20, k=8, batch 4,096, 16 updates
python bench/sweeps.py store [MEMBERS]        list and query over so many histories, before and after compaction
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import jax
import numpy as np

import sorites as so
from sorites.store import compact, list_runs, query
from sorites.supervision import Noisy
from sorites.sweeps import plan_of

RATES, NOISES = (3.0, 10.0, 30.0, 100.0, 300.0), (0.0, 0.001, 0.003, 0.01)


def taught(rate: float, noise: float) -> so.Run:
    task = so.Parity(20, 8)
    checks = so.Evaluation(every=1, count=256, probes=(so.Outcome("rolled"),))
    source, term = Noisy(so.Sampled(4096), noise), so.teacher_forcing(task.layout)
    return so.Run(so.positional(task), [so.Stage(task, (term,), source, so.GD(rate), 16, checks)])


def timed(call) -> tuple[float, object]:
    begun = time.perf_counter()
    return call(), time.perf_counter() - begun


def overhead(members: int) -> dict:
    """Warm: the programs are compiled, then train and sweep are timed in turn, and one sweep from inside."""
    grid = so.grid(lambda rate, noise: taught(rate, noise).until_goal(), rate=RATES, noise=NOISES)
    seeds = range(members // len(grid))
    _, runs, plan = plan_of(grid, seeds)
    ensembles = [each.members for each in plan.ensembles]

    def plain():
        for part in ensembles:
            so.train([runs[place] for place, _ in part], [seed for _, seed in part])

    table, first = timed(lambda: so.sweep(grid, seeds))
    times = [(timed(plain)[1], timed(lambda: so.sweep(grid, seeds))[1]) for _ in range(3 if members <= 1000 else 0)]
    inside, swept_in = _inside(lambda: so.sweep(grid, seeds)) if times else (0.0, 0.0)
    found = {"members": members, "device": jax.devices()[0].device_kind, "first sweep, compiling": round(first, 2)}
    if times:
        found |= {"pairs of train, sweep": [[round(each, 3) for each in pair] for pair in times]}
        found |= {"of one sweep, inside train": round(inside, 3), "outside": round(swept_in - inside, 3)}
    return found | {"solved": int(table.members["solved"].sum())}


def _inside(call) -> tuple[float, float]:
    """Seconds that a sweep spends in `train`, and in all: two timings apart differ by more than what is asked for."""
    from sorites.sweeps import work

    real, spent = work.train, []

    def train(*arguments, **named):
        result, seconds = timed(lambda: real(*arguments, **named))
        spent.append(seconds)
        return result

    work.train = train
    try:
        whole = timed(call)[1]
        return sum(spent), whole
    finally:
        work.train = real


def store(members: int) -> dict:
    """Histories of 17 evaluations in folders of 1,000, put there without training."""
    root = Path(tempfile.mkdtemp())
    shelf, run = so.Store(root), taught(10.0, 0.0)
    some = so.train(run, range(1000)).history
    for first in range(0, members, 1000):
        seeds = np.arange(first, first + 1000)
        shelf.put([run] * 1000, seeds.tolist(), some.__class__(**{**some.__dict__, "seeds": seeds}), None, 1.0)
    found: dict = {"members": members, "folders": len(shelf.folders())}
    by_step = 'SELECT step, avg("rolled.answer") AS answer FROM history GROUP BY step'
    sentences = {
        "list": lambda: list_runs(so.Store(root)),
        "query members": lambda: query(so.Store(root), "SELECT avg(samples) AS chains, count(*) AS n FROM members"),
        "query history": lambda: query(so.Store(root), by_step),
    }
    for name, ask in sentences.items():
        found[name] = round(timed(ask)[1], 3)
    found["compacting"] = round(timed(lambda: compact(so.Store(root)))[1], 2)
    found["folders after"] = len(so.Store(root).folders())
    for name, ask in sentences.items():
        found[f"{name}, compact"] = round(timed(ask)[1], 3)
    return found


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    print(json.dumps({"overhead": overhead, "store": store}[what](*map(int, rest or ["1000"]))))
