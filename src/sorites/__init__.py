"""sorites: a laboratory for how transformers come to reason in chains.

The few names a researcher needs; everything else is one folder down. Names are fetched when they are first used, so
that the command line answers at once; `__init__.pyi` tells editors and type checkers where each one lives.
"""

import importlib
from typing import Any

__version__ = "0.2.0"

_HOMES = {
    "errors": "SpecError",
    "tasks": "AbstractTask Action Boolean Chain Gate Layout Lego Parity Sequences action_named",
    "models": "GPT MODELS AbstractModel Architecture Prediction gated gpt open_gates policy_for positional reader",
    "supervision": "AbstractSignal ExactReward FromPrefix Hinge Own PolicyGradient Sampled Shown Squared Supervision "
    "Truth credit direct process_reward self_generated teacher_forcing weighted without",
    "probes": "AbstractProbe Answer ChildMass Entropy Levels Loss",
    "training": "CURRICULA GD Adam Course Evaluation History Pupil Quantised Run Sign Stage linear_icot log_icot "
    "stages teach train",
    "store": "Store",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = ["__version__", *_HOME_OF]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sorites' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
