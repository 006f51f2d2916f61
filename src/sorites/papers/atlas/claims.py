"""A-1 and on: each a cell or more of task x model x supervision, at the model's own defaults."""

import dataclasses

from ...errors import require
from ...ledger import Claim, Comparison, Evidence, shown
from ...models import MODELS
from ...statistics import wilson
from ...training import Lab
from ...training.cells import Sizes, run_named

MAJORITY = 0.5  # a teaching works where the interval of the share that it brings to the goal lies above one half


@dataclasses.dataclass(frozen=True)
class Cells:
    """One task, several models, one supervision."""

    bits: int = 8
    sparsity: int = 4
    models: tuple[str, ...] = ("gated", "reader", "open-gates", "positional", "perceptron", "gpt")
    learners: tuple[str, ...] = ()  # of these models, those that are said to learn
    supervision: str = "teacher-forcing"
    seeds: int = 8

    def __post_init__(self):
        for name in (*self.models, *self.learners):
            require(name in MODELS, f"a model is one of {', '.join(MODELS)}: models={name!r}; use one of these")


def _share(name: str, right: int, seeds: int, learns: bool) -> Comparison:
    low, high = wilson(right, seeds)
    above = True if low > MAJORITY else False if high < MAJORITY else None
    word = "≥" if learns else "≤"
    holds = above if learns or above is None else not above
    return Comparison(f"{name}: share of members at the goal {word}", MAJORITY, right / seeds, None, holds)


def _cells(size: Cells, lab: Lab) -> Evidence:
    compared = []
    for name in size.models:
        run = run_named("parity", name, size.supervision, Sizes(size.bits, size.sparsity))
        solved = lab.train(run, range(size.seeds)).history.solved_at >= 0
        compared.append(_share(name, int(solved.sum()), size.seeds, name in size.learners))
    return Evidence((*compared, shown("members of each model", None, size.seeds)), seeds=size.seeds * len(size.models))


MODELS_HERE = Cells().models
DIRECT = ("gated", "reader", "open-gates", "perceptron")
STAGED = ("gated", "reader", "perceptron")
CLAIMS = (
    Claim(
        "A-1", "atlas", "docs/cells.md", "finite",
        "On a parity tree of 4 among 8 bits teacher forcing brings every model of this laboratory that reads signs to the goal, each at "
        "its own defaults: the share of members whose own greedy thoughts end in the right answer lies above one half.",
        {"tiny": Cells(models=("gated", "positional"), learners=("gated", "positional")), "quick": Cells(learners=MODELS_HERE)},
        _cells,
    ),
    Claim(
        "A-2", "atlas", "docs/cells.md", "finite",
        "The answer alone teaches the same parity to the models that compute in levels (the gates of log-icot, the reader, open gates) and "
        "to a perceptron, and not to one layer of attention with padded thoughts (positional, GPT), at the same defaults.",
        {
            "tiny": Cells(models=("gated", "positional"), learners=("gated",), supervision="direct"),
            "quick": Cells(learners=DIRECT, supervision="direct"),
        },
        _cells,
    ),
    Claim(
        "A-3", "atlas", "docs/cells.md", "finite",
        "Taking thoughts away level by level (Log-ICoT) teaches the same parity to gates, the reader and a perceptron, and not to open gates, "
        "although these learn it from the answer alone (A-2): a curriculum can take away what needs none. Nor to one layer of attention (positional).",
        {
            "tiny": Cells(models=("gated", "open-gates"), learners=("gated",), supervision="log-icot"),
            "quick": Cells(models=MODELS_HERE[:-1], learners=STAGED, supervision="log-icot"),  # a GPT takes minutes
        },
        _cells,
        departures=("written after docs/cells.md was seen, which has the same members",),
    ),
)  # fmt: skip
