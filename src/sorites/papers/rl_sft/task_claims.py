"""Claims about the functions and the activations: no training."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import Between, Claim, Domain, Evidence, Powers, equal
from ...models import policy_for
from ...supervision import assignments
from ...tasks import GATES as KNOWN
from ...tasks import Boolean
from ...theory.precision import in_float64
from .exact import secret_of
from .setting import CHOSEN, GATES, PAPER, Tree, chosen


def _functions(size: Tree) -> Evidence:
    wrong = {"closed form": 0, "duality": 0, "serial": 0, "pairing": 0}
    inputs = jnp.asarray(assignments(size.bits))
    for gate in GATES:
        task = size.task(gate)
        secret = secret_of(task)
        leaves = np.asarray(inputs)[np.asarray(secret)]
        closed = {
            "parity": leaves.prod(axis=0),
            "and": 2 * ((leaves + 1) // 2).prod(axis=0) - 1,
            "or": 1 - 2 * ((1 - leaves) // 2).prod(axis=0),
        }[gate]
        answer = np.asarray(task.think(secret, inputs).tokens)[-1, 0]
        wrong["closed form"] += int((answer != closed).sum())
        serial = Boolean(size.bits, size.sparsity, gate, "serial")  # pyright: ignore
        wrong["serial"] += int((np.asarray(serial.think(secret, inputs).tokens)[-1, 0] != closed).sum())
        turned = Boolean(size.bits, size.sparsity, gate, "tree", None, tuple(range(size.sparsity))[::-1])  # pyright: ignore
        wrong["pairing"] += int((np.asarray(turned.think(secret, inputs).tokens)[-1, 0] != closed).sum())
    conjunction, disjunction = size.task("and"), size.task("or")
    secret = secret_of(conjunction)
    dual = -np.asarray(conjunction.think(secret, -inputs).tokens)[size.bits :]
    wrong["duality"] = int((np.asarray(disjunction.think(secret, inputs).tokens)[size.bits :] != dual).sum())
    return Evidence(tuple(equal(f"{name}: inputs that differ", 0, count, 0) for name, count in wrong.items()))


@dataclasses.dataclass(frozen=True)
class Line:
    points: int = 41  # at which the two activations are compared, from -1 to 1

    def __post_init__(self):
        require(self.points >= 3, f"a line has its ends and a middle: points={self.points}; use 3 or more")


@in_float64
def _activations(size: Line) -> Evidence:
    pairs, compared = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)]), []
    for name, gate in KNOWN.items():
        mean = np.asarray(policy_for(name)(jnp.asarray(pairs.sum(axis=1) / 2)))
        compared.append(
            equal(
                f"{name}: largest |2 psi - phi_2|",
                0,
                float(np.abs(mean - np.asarray(gate(*jnp.asarray(pairs.T)))).max()),
                0,
            )
        )
    line = jnp.linspace(-1, 1, size.points)
    dual = policy_for("or")(line) + policy_for("and")(-line)  # psi_or(z) = 1 - psi_and(-z)
    inside = max(float(jnp.abs(policy_for(name)(line)).max()) for name in KNOWN)
    return Evidence(
        (
            *compared,
            equal("psi_or(z) + psi_and(-z) - 1", 0, float(jnp.abs(dual).max()), 0),
            equal("largest |2 psi - 1|", 1, inside, 0),
        )
    )


CLAIMS = (
    Claim(
        "RS-1", PAPER, "Def. 2.1, Sec. 2.1", "identity",
        "The tree and the serial chain of two-bit gates compute PARITY, AND and OR of the secret bits whatever the pairing, "
        "and OR(x) = -AND(-x) at every node.",
        {"tiny": Tree(8, 4), "quick": Tree(12, 8)}, _functions,
        domain=Domain({"bits": Between(2, 14), "sparsity": Powers(2, 8)}, chosen, CHOSEN),
    ),
    Claim(
        "RS-2", PAPER, "Table 1", "identity",
        "phi_2(a, b) = sign(2 psi((a+b)/2) - 1), with equality before the sign, for PARITY, AND, OR and also NAND, NOR, XOR; "
        "psi of OR at z is 1 - psi of AND at -z, and psi ends at 0 and 1.",
        {"tiny": Line(), "quick": Line()}, _activations,
        domain=Domain({"points": Between(3, 1001)}),
    ),
)  # fmt: skip
