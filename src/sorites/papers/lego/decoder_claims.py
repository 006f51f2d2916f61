"""Claims about the experimental decoder: what permuted predicates change, and how attention dilutes."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import Between, Claim, Comparison, Domain, Evidence, at_least, at_most, equal, shown
from ...models import ClassLogits
from ...models.decoder import decoder
from ...statistics import mean_interval
from ...tasks import Chain, Lego
from ...theory.precision import in_float64
from ...training import Lab
from .grids import SMALL, TINY, Study, ensemble
from .setting import PAPER, ROUNDING, Theory


@dataclasses.dataclass(frozen=True)
class Permuted:
    length: int = 8
    variables: int = 20
    width: int = 32
    samples: int = 16

    def __post_init__(self):
        require(self.samples >= 1, f"a batch has sentences: samples={self.samples}; use 1 or more")
        require(
            self.width >= 4 and self.width % 4 == 0,
            f"two heads turn pairs of coordinates: width={self.width}; use a multiple of 4",
        )
        require(
            2 <= self.length < self.variables,
            f"a permuted sentence has L >= 2 and L+1 variables: length={self.length}, variables={self.variables}; "
            "use 2 <= length < variables",
        )


@in_float64
def _permuted(size: Permuted) -> Evidence:
    task, generator = Lego("S3", size.length, size.variables), np.random.default_rng(0)
    order = generator.permutation(size.length)
    chains = task.chains(task.sentences(jax.random.split(jax.random.key(0), size.samples)))
    whole = np.concatenate([order, np.arange(size.length, task.layout.positions)])
    moved = Chain(chains.tokens[whole], chains.layout)
    compared: list[Comparison] = []
    for positions in ("none", "learned", "rope", "alibi"):
        made = decoder(task, size.width, size.width, 2, 2 * size.width, 0.0, False, positions)
        model = made.init(jax.random.key(1))

        @jax.jit
        def read(chains, model=model, positions=positions):
            tokens = model.generate(chains, jax.random.key(2), "greedy") if positions == "none" else chains.tokens
            said = model.predict_batch(chains)
            assert isinstance(said, ClassLogits)  # every slot is read out
            return said.logits, model.attend(chains)[0], tokens[size.length :]

        (logits, attention, answers), (moved_logits, moved_attention, moved_answers) = read(chains), read(moved)
        change = float(jnp.abs(logits - moved_logits).max())
        shift = float(jnp.abs(attention[:, :, whole] - moved_attention).max())
        if positions == "none":
            compared += [
                at_most("no positions: change of the logits", change, ROUNDING),
                at_most("no positions: attention against the permuted attention", shift, ROUNDING),
                equal("no positions: answers written differently", 0, int((answers != moved_answers).sum()), 0),
            ]
        else:
            compared.append(at_least(f"{positions}: change of the logits", change, 1e-3))
    return Evidence(tuple(compared))


def slopes(masses: np.ndarray, length: int) -> float:
    """Change of a clause's attention from the first to the last answer, by a straight line over the sentence."""
    return float(np.polyfit(np.linspace(0, 1, length), masses[:length], 1)[0])


def above_zero(name: str, seeds: np.ndarray) -> Comparison:
    """The mean over seeds is above 0 by its 95 % interval; it fails where a mean of 0 gives such seeds in less than 1 of
    100,000 runs (Student's t). Undecided between, as with one seed."""
    from scipy import stats

    if len(seeds) < 2:
        return Comparison(f"{name} ≥", 0, float(seeds.mean()), 0, None)
    error = max(float(seeds.std(ddof=1)) / np.sqrt(len(seeds)), np.finfo(float).tiny)
    rare = float(stats.t.cdf(float(seeds.mean()) / error, len(seeds) - 1)) < 1e-5
    holds = True if mean_interval(seeds)[0] > 0 else False if rare else None
    return Comparison(f"{name} ≥", 0, float(seeds.mean()), 0, holds)


def _diluted(size: Study, lab: Lab) -> Evidence:
    require(
        {10, 20} <= set(size.lengths),
        f"attention is compared at lengths 10 and 20: lengths={size.lengths}; use lengths with both",
    )
    _, found = ensemble(size, "fresh", lab)
    short, long = size.lengths.index(10), size.lengths.index(20)
    compared: list[Comparison] = []
    for action in size.pair:
        rows = size.rows(action)
        for clause in ("predicate", "answer"):
            attention = found[clause][rows]  # [seed, length, step]
            fall = attention[:, short, :10].mean(axis=1) - attention[:, long, :20].mean(axis=1)
            along = slopes(attention[:, long].mean(axis=0), 20)
            compared += [
                above_zero(f"{action}: {clause} attention at L=10 minus that at L=20", fall),
                shown(f"{action}: {clause} attention, L=20", None, float(attention[:, long, :20].mean())),
                shown(f"{action}: change of {clause} attention along L=20", None, along),
            ]
        compared.append(
            shown(f"{action}: all values right at L=20", None, float(found["values"][-1][rows, long].mean()))
        )
    theory = Theory(60, 3.0, 150)
    for name in ("C6", "S3"):
        end = theory.run(name, lab).end
        masses = {length: end.masses(length, jnp.arange(1, length + 1)) for length in (10, 20)}
        falls = [
            float(masses[10].predicate.mean() - masses[20].predicate.mean()),
            float(masses[10].answer.mean() - masses[20].answer.mean()),
        ]
        decays = [float(np.diff(np.asarray(each)).max()) for each in (masses[20].predicate, masses[20].answer)]
        compared.append(
            at_least(f"theory, {name}: fall of predicate and answer attention from 10 to 20", min(falls), 0)
        )
        compared.append(at_most(f"theory, {name}: largest rise along the sentence", max(decays), 0))
    trained = f"decoder of width {size.width} at rate {size.rate:g} with fresh data, {size.steps} steps; blanks are "
    return Evidence(
        tuple(compared), seeds=size.seeds, departures=(trained + ("taught" if size.blanks else "not taught"),)
    )


IDENTITY = "the output map of attention starts as the identity"
CLAIMS = (
    Claim(
        "L19", PAPER, "Fig. 5", "identity",
        "Without positions, permuting the predicates permutes attention and changes neither predictions nor rollouts; "
        "learned, rotary and linear-bias positions break this.",
        {"tiny": Permuted(4, 8, 8, 4), "quick": Permuted()}, _permuted,
        departures=(IDENTITY,),
        domain=Domain(
            {"length": Between(3, 12), "variables": Between(5, 40), "width": Between(8, 48, 4), "samples": Between(4, 32)},
            lambda size: size.length < size.variables, "a sentence of length L has L+1 different variables",
        ),
    ),
    Claim(
        "L20", PAPER, "Fig. 6, 7", "trend",
        "Attention on each of the two target clauses falls from L = 10 to L = 20, in the trained decoder and in theory, where it "
        "also falls along the sentence for both clauses and both kinds of action.",
        {"tiny": TINY, "quick": dataclasses.replace(SMALL, seeds=3, steps=1_500)}, _diluted, expected="inconclusive",
        departures=(
            "the sum of both clauses was compared in one seed until a review; three seeds, measured then, split it differently; "
            "now each clause, by the 95 % interval of the mean over seeds: few seeds of a small decoder do not decide it",
            "an interval below 0 failed, by chance in 1 of 40, until an audit; now a mean below 0 that chance gives in 1 of 100,000",
            "1500 steps in three seeds, after which S5 is not solved: 3000 take two minutes and do not decide it either (C6's predicate -0.002 to 0.003)",
            "in the recorded decoder of width 256 (three seeds) both fall on C6, the predicate on S5; S5's answer falls in each "
            "seed (0.016 to 0.048), undecided by its interval",
            IDENTITY,
        ),
        domain=Domain(
            {"variables": Between(42, 84), "steps": Between(300, 1_500, 300), "seeds": Between(1, 2)},
            because="members beyond these take minutes; two seeds seldom decide",
        ), revised=True,
    ),
)  # fmt: skip
