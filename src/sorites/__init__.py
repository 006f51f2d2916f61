"""sorites: a laboratory for how transformers come to reason in chains.

The few names a researcher needs; everything else is one folder down. Names are fetched when they are first used, so
that the command line answers at once; `__init__.pyi` tells editors and type checkers where each one lives.
"""

import importlib
from typing import Any

_HOMES = {
    "errors": "SpecError",
    "tasks": "AbstractTask Action Alphabet Boolean Chain Composition Gate Layout Lego Parity Sequences action_named",
    "models": "GPT MODELS AbstractModel AbstractPrediction ClassLogits Decoder Defaults SignLogits SignMeans "
    "policy_for",
    **{f"models.{name}": name for name in ("decoder", "gated", "gpt", "open_gates", "perceptron", "positional")},
    **{f"models.{name}": name for name in ("reader", "sparse")},
    "models.gpt_huggingface": "from_hf to_hf",
    "supervision": "AbstractLabels AbstractObjective AbstractPrefix AbstractSource Clipped CrossEntropy ExactReward "
    "ExpectedReward Hinge LabelsFromPrefix OnePass OwnPrefix Passes PolicyGradient Pooled PrefixOutput Repeated "
    "Rewritten Sampled Squared Supervision TrueLabels TruePrefix credit direct outcome_reward process_reward "
    "self_generated teacher_forcing weighted without",
    "probes": "AbstractProbe ChildMass Enough Entropy HeadEntropy Loss OnTask Outcome Reward",
    "training": "CURRICULA GD AbstractOptimizer Adam AdamW Clip Decay Evaluation History Lab Quantised Run Sign Stage "
    "Start Trained Until linear_icot log_icot stages train",
    "training.cells": "run_named",
    "store": "Store checkpoint",
    "sweeps": "Futility Grid Halving Table grid sweep",
    "ledger": "Claim Comparison Erratum Evidence verify",
    "papers.paper": "Paper",
    "papers.figure": "Figure",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = ["__version__", *_HOME_OF]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("sorites")
        except PackageNotFoundError:  # imported from its folder, as on a machine where nothing can be installed
            return "not installed"
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sorites' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
