"""Which papers there are: those of this package, and any that an installed one announces.

    [project.entry-points."sorites.papers"]
    mine = "my_package:paper"

names a `Paper`. See docs/extending.md and examples/sixth_paper.
"""

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from ..errors import SpecError, require
from ..ledger import Claim
from .paper import Paper

if TYPE_CHECKING:
    from .figure import Figure

GROUP = "sorites.papers"
OURS = ("log_icot", "kim_suzuki", "lego", "rl_sft", "wen", "atlas")  # found without being installed, too


@functools.cache
def papers() -> dict[str, Paper]:
    """Every paper by its slug, ours first; one that cannot be loaded is passed over with a warning."""
    found = {}
    for name in OURS:
        paper = importlib.import_module(f"{__package__}.{name}").paper
        found[paper.slug] = paper
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        if entry.value.startswith(f"{__package__}."):
            continue
        try:
            paper = entry.load()
        except Exception as error:  # whatever somebody else's code raises
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            warnings.warn(f"the paper {entry.value} cannot be loaded ({text}) and is passed over", stacklevel=2)
            continue
        require(
            isinstance(paper, Paper), f"an entry point of {GROUP} names a Paper: {entry.value} is none; use so.Paper"
        )
        require(
            paper.slug not in found,
            f"a paper has a slug of its own: {paper.slug!r} of {entry.value} is taken by "
            f"{found[paper.slug].module if paper.slug in found else ''}; rename it",
        )
        found[paper.slug] = paper
    return found


def claims() -> dict[str, Claim[Any]]:
    """Every claim by its id."""
    return _all(Paper.claims, "claim")


def figures() -> dict[str, "Figure[Any]"]:
    """Every figure by its id."""
    return _all(Paper.figures, "figure")


def code(slug: str, function: Callable[..., Any]) -> str:
    """A hash of all code that a claim's check or a figure's measurement can reach: the numeric core, its paper's own
    package, and outside this one whatever is imported. An edit in one paper does not touch another."""
    from ..store.source import code_of  # here: a list of papers needs no jax

    function = inspect.unwrap(getattr(function, "func", function))  # of a partial
    modules = {function.__module__}
    if slug in papers():
        modules.add(papers()[slug].module)
    return code_of(modules, whole=True)[:16]


def _all(of: Callable[[Paper], dict[str, Any]], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for paper in papers().values():
        for id, each in of(paper).items():
            if id in found:
                raise SpecError(
                    f"a {kind} has an id of its own: {id} of {paper.slug} is taken by {found[id].paper}; rename it"
                )
            found[id] = each
    return found
