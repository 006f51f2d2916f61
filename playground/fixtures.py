"""What the page must agree with: inputs, start weights and weights after 100 steps, from the library in float64.

    python playground/fixtures.py              writes fixtures/*.json and the claims' sentences and domains
    python playground/fixtures.py --claims     only what the ledger says (seconds)
    python playground/fixtures.py --verify     also judges, at quick scale, the shown claims that changed (minutes)

The page's own random inputs are not JAX's, so every random thing is exported: inputs, sampled tokens, sentences.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import recorded  # beside this file

from sorites.models import policy_for
from sorites.models.gated import gated
from sorites.models.positional import positional
from sorites.models.routing import rollout, uniform
from sorites.papers.lego.setting import Theory
from sorites.supervision import (
    FilteredPrefix,
    Hinge,
    PolicyGradient,
    Squared,
    Strings,
    Supervision,
    TrueLabels,
    Unlearned,
    credit,
    outcome_reward,
    process_reward,
    self_generated,
    teacher_forcing,
)
from sorites.tasks import Boolean, Chain
from sorites.tasks.actions import action_named
from sorites.theory import tree_law
from sorites.theory.precision import in_float64
from sorites.training import CURRICULA, GD, AdamW, Quantised, Sign
from sorites.training.lego_theory import SelfLabelled, train_routing, two_steps

FOLDER = Path(__file__).parent / "fixtures"
STEPS = 100
CHAINS, BATCHES = 48, 4  # step s reads batch s modulo BATCHES


def packed(signs) -> str:
    """Signs as bits (-1 is 1), row by row, in hexadecimal."""
    return np.packbits(np.asarray(signs).ravel() < 0).tobytes().hex()


def listed(values) -> list[float]:
    return np.asarray(values, float).ravel().tolist()


def real(value: float) -> jax.Array:
    """A float64: plain numbers inside rules become float32."""
    return jnp.asarray(value, jnp.float64)


class Setting:
    """A task with its secret, batches and start weights, and the same in JSON."""

    def __init__(self, task: Boolean, model: Any, seed: int, scale: float):
        generator = np.random.default_rng(seed)
        self.task, self.secret = task, task.draw(jax.random.key(seed))
        inputs = generator.integers(0, 2, (BATCHES, task.bits, CHAINS)) * 2 - 1
        self.batches = [task.think(self.secret, jnp.asarray(each, jnp.int8)) for each in inputs]
        self.model = jax.tree.map(
            lambda leaf: jnp.asarray(scale * generator.normal(size=leaf.shape)) if eqx.is_inexact_array(leaf) else leaf,
            model,
        )
        self.json = {
            "bits": task.bits, "sparsity": task.sparsity, "gate": task.gate.name, "decomposition": task.decomposition,
            "secret": np.asarray(self.secret).tolist(), "chains": CHAINS, "inputs": [packed(each) for each in inputs],
            "start": listed(self.weights(self.model)),
        }  # fmt: skip

    def weights(self, model: Any) -> np.ndarray:
        """[thought, position], zero where the mask hides."""
        layout = self.task.layout
        if not isinstance(model.weights, tuple):
            return np.asarray(model.weights) * model.mask(layout)[layout.inputs :]
        whole, first = np.zeros((layout.thoughts, layout.positions)), 0
        for layer in model.weights:
            whole[first : first + layer.shape[0], : layer.shape[1]] = layer
            first += layer.shape[0]
        return whole

    def descend(self, stages: Sequence[tuple[Supervision, Any, int]]) -> dict[str, Any]:
        """STEPS updates through the stages; own sampled thoughts are exported as the library drew them."""
        model, losses, tokens, number = self.model, [], [], 0
        for taught, rule, steps in stages:
            transformation = rule.transformation()
            state = transformation.init(eqx.filter(model, eqx.is_inexact_array))
            for _ in range(steps):
                chains, key = self.batches[number % BATCHES], jax.random.key(number)
                model, state, loss, read = _step(model, state, rule, taught, self.task, self.secret, chains, key)
                losses.append(float(loss))
                tokens.append(packed(read))
                number += 1
        drawn = {"tokens": tokens} if getattr(stages[0][0].prefix, "how", "") == "sampled" else {}
        return {"losses": losses, "end": listed(self.weights(model)), **drawn}


@eqx.filter_jit
def _step(model, state, rule, taught: Supervision, task, secret, chains: Chain, key):
    loss, slope = eqx.filter_value_and_grad(lambda model: taught(model, task, secret, chains, key))(model)
    read = taught.prefix(model, chains, key, None).tokens[task.layout.inputs :]
    updates, state = rule.transformation().update(slope, state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, updates), state, loss, read


def shares(stages: int) -> list[int]:
    """STEPS over so many stages."""
    return [(i + 1) * STEPS // stages - i * STEPS // stages for i in range(stages)]


@in_float64
def log_icot() -> dict[str, Any]:
    """The gated transformer under four curricula, AdamW; and the law of the start of a stage."""
    task, cases = Boolean(12, 8), []
    setting = Setting(task, gated(task), 0, 0.3)
    rule = AdamW(real(0.1), real(0.01), real(0.9), real(0.999))
    for name, curriculum in CURRICULA.items():
        plan = curriculum(task.layout)
        found = setting.descend([(t, rule, n) for t, n in zip(plan, shares(len(plan)), strict=True)])
        cases.append({"curriculum": name, **found})
    laws = [
        {"bits": bits, "sparsity": sparsity, "stage": stage, "loss": tree_law.start_loss(bits, sparsity, stage),
         "signal": tree_law.signal(bits, sparsity, stage)}
        for bits, sparsity in ((8, 4), (16, 8), (12, 8), (30, 16), (20, 2), (8, 8))
        for stage in range(1, sparsity.bit_length())
    ]  # fmt: skip
    return {"setting": setting.json, "rate": 0.1, "decay": 0.01, "cases": cases, "laws": laws}


@in_float64
def rl_sft() -> dict[str, Any]:
    """The one-layer transformer, sign updates, every way of teaching on trees and serial chains."""
    cases = []
    for gate, decomposition, method in (
        ("parity", "tree", "process-reward"), ("and", "tree", "process-reward"), ("or", "serial", "process-reward"),
        ("parity", "tree", "outcome-reward"), ("or", "serial", "outcome-reward"),
        ("parity", "tree", "sft"), ("and", "serial", "sft"), ("or", "tree", "sft"),
        ("parity", "tree", "teacher-forcing"), ("and", "serial", "teacher-forcing"), ("or", "tree", "teacher-forcing"),
    ):  # fmt: skip
        sparsity = 8 if decomposition == "tree" else 5
        task = Boolean(10, sparsity, gate, decomposition)  # pyright: ignore
        layout, mask = task.layout, "previous-level" if decomposition == "tree" else "inputs-and-previous"
        hinge, where = Unlearned(Hinge(), layout.levels), jnp.full((layout.thoughts, 1), 1 / layout.thoughts)
        answer = jnp.zeros((layout.thoughts, 1)).at[-1].set(1.0)
        taught = {
            "process-reward": lambda where=where, layout=layout: _with(process_reward(layout), where),
            "outcome-reward": lambda answer=answer, layout=layout: _with(
                outcome_reward(layout, PolicyGradient(jnp.asarray(credit(layout, "return"), jnp.float64), "batch")),
                answer,
            ),
            "sft": lambda where=where, layout=layout, hinge=hinge: _with(self_generated(layout, hinge), where),
            "teacher-forcing": lambda where=where, layout=layout, hinge=hinge: _with(
                teacher_forcing(layout, hinge), where
            ),
        }[method]()
        setting = Setting(task, positional(task, policy_for(gate), mask), len(cases), 0.5)
        rule = Sign(real(0.02), real(1e-6))
        cases.append({"method": method, "setting": setting.json, **setting.descend([(taught, rule, STEPS)])})
    return {"rate": 0.02, "cases": cases}


def _with(taught: Supervision, where: jax.Array) -> Supervision:
    return eqx.tree_at(lambda taught: taught.where, taught, where)


@in_float64
def kim_suzuki() -> dict[str, Any]:
    """Teacher forcing under the causal mask; the own filtered chain under the level mask, rounded and not."""
    task = Boolean(12, 8)
    forced = Setting(task, positional(task, "cosine", "causal"), 0, 0.3)
    cases = [{"name": "one-step", "rate": 2.0, "rounded": False, "setting": forced.json,
              **forced.descend([(teacher_forcing(task.layout), GD(real(2.0)), STEPS)])}]  # fmt: skip
    strings = np.random.default_rng(5).integers(0, 2, (task.bits, 16)) * 2 - 1
    for scale, rate, rounded, threshold, used in (
        (0.3, 1.0, False, 1.5, 16),
        (2.0, 1.0, False, 0.7, 16),
        (0.0, 200.0, True, 1.5, 9),
    ):
        own = Setting(task, positional(task, "cosine", "lower-levels"), 1, scale)
        chosen = Strings(strings, real(threshold), used)
        taught = Supervision(FilteredPrefix(chosen), TrueLabels(), np.ones((task.layout.thoughts, 1)), Squared())
        rule = Quantised(GD(real(rate))) if rounded else GD(real(rate))
        found = own.descend([(taught, rule, STEPS)])
        cases.append({"name": "log-steps", "rate": rate, "rounded": rounded, "threshold": threshold, "used": used,
                      "strings": packed(strings), "setting": own.json, **found})  # fmt: skip
    return {"cases": cases}


@in_float64
def lego() -> dict[str, Any]:
    """The four numbers of attention on ideal features: two-step sentences, then ones that an earlier self labelled."""
    theory, cases = Theory(60, 3.0), []
    for name, rule in (("C6", "normalised"), ("S3", "normalised"), ("S4", "plain"), ("A4", "normalised")):
        action = action_named(name)
        features, terms = theory.features(action), (1, 2) if action.simply_transitive else (2,)
        rate = 0.03 if rule == "normalised" else 20.0  # at 0.1 the balance swings, and rounding grows tenfold a step
        history = train_routing(features, uniform(), two_steps(action, 1), terms, 60, STEPS, rate, 100.0, 0.0, rule)  # pyright: ignore[reportArgumentType]
        path = np.stack([np.asarray(leaf) for leaf in jax.tree.leaves(history.routing)])
        generator = np.random.default_rng(7)
        moves, first = (
            generator.integers(0, action.actions, (6, 12)),
            generator.integers(0, action.values, 6),
        )
        written = rollout(features, history.end, jnp.asarray(moves), jnp.asarray(first), 12)
        case = {"action": name, "rule": rule, "rate": rate, "terms": list(terms), "variables": 60, "clipping": 3.0,
                "table": action.table.tolist(), "ideal": [listed(features.actions)[:24], listed(features.values)[:24]],
                "losses": listed(history.loss), "end": listed(path[:, -1]),
                "rollout": {"actions": moves.tolist(), "start": first.tolist(),
                            "written": np.asarray(written).tolist()}}  # fmt: skip
        if name == "S3":
            case["continued"] = _continued(features, history.end, action)
        cases.append(case)
    return {"cases": cases}


def _continued(features, annotator, action) -> dict[str, Any]:
    table, length, count = jnp.asarray(action.table), 4, 16
    source = SelfLabelled(features, annotator, table, jax.random.key(0), real(0.0), real(0.0), length, count)
    history = train_routing(features, annotator, source, (2,), 60, STEPS, 0.03)
    label = eqx.filter_jit(lambda step: source(step))
    batches = [label(jnp.asarray(step)) for step in range(STEPS)]
    return {
        "length": length, "losses": listed(history.loss),
        "end": [float(leaf[-1]) for leaf in jax.tree.leaves(history.routing)],
        "actions": ["".join(map(str, np.asarray(each.actions).ravel())) for each in batches],
        "start": ["".join(map(str, np.asarray(each.values[:, 0]))) for each in batches],
    }  # fmt: skip


FIXTURES: dict[str, Callable[[], dict[str, Any]]] = {
    "log-icot": log_icot,
    "rl-sft": rl_sft,
    "kim-suzuki": kim_suzuki,
    "lego": lego,
}


def known(table: str) -> dict[str, Any]:
    path = FOLDER / f"{table}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write(table: str, value: Any, folder: Path = FOLDER) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{table}.json").write_text(json.dumps(value, separators=(",", ":"), allow_nan=False, default=str) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exhibits", nargs="*", metavar="EXHIBIT", help=f"of {', '.join(FIXTURES)}; default all")
    parser.add_argument("--out", type=Path, help="put the exhibits' numbers into this folder, and nothing else")
    parser.add_argument("--claims", action="store_true", help="only what the ledger says, not the numbers")
    parser.add_argument("--verify", action="store_true", help="judge claims that changed since they were judged")
    options = parser.parse_args()
    unknown = set(options.exhibits) - FIXTURES.keys()
    if unknown:
        parser.error(f"an exhibit is one of {', '.join(FIXTURES)}: {', '.join(sorted(unknown))}; use one of these")
    for name in options.exhibits or FIXTURES:
        if not options.claims:
            write(name, FIXTURES[name](), options.out or FOLDER)
        if options.verify:
            for id, found in recorded.verdicts(recorded.CLAIMS[name], known("verdicts")):
                write("verdicts", known("verdicts") | {id: found})
                print(id, found["verdict"], found["seconds"], flush=True)
    if options.out is not None:
        return
    write("claims", recorded.claims())
    write("filter-range", recorded.filter_range())


if __name__ == "__main__":
    main()
