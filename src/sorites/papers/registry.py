"""Which papers there are: those of this package, and any that an installed one announces.

    [project.entry-points."sorites.papers"]
    mine = "my_package:paper"

names a `Paper`. See docs/extending.md and examples/sixth_paper.
"""

import functools
import importlib
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from ..errors import SpecError, require
from ..ledger import Claim
from .paper import Paper

if TYPE_CHECKING:
    from .figure import Figure

GROUP = "sorites.papers"
OTHER_CODE, NO_DIGEST = "recorded with other code", "recorded without a digest of its code"
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
    """Hash the code behind a verdict.

    Args:
        slug: the paper of the claim.
        function: the check of the claim.

    Returns:
        Sixteen hexadecimal digits: of the import closure of the check, of all claims of the paper, and of the ledger.
        An edit in one paper leaves the verdicts of the others alone.
    """
    from ..store.closure import code_of  # here: a list of papers needs no jax
    from ..store.modules import exists, modules_behind

    modules = {*modules_behind(function), "sorites.ledger.verification"}
    if slug in papers():
        module = papers()[slug].module
        modules |= {name for name in (module, f"{module}.claims") if exists(name)}
    return code_of(modules)[:16]


def outdated(claim: Claim[Any], record: Mapping[str, Any]) -> bool | None:
    """Compare the code behind a recorded verdict with the code now.

    Args:
        claim: the claim as it is now.
        record: a verdict on it, as a store or `sorites verify --json` holds it.

    Returns:
        True where the verdict was recorded with other code, None where the record has no digest of its code.
    """
    source = record.get("source")
    return None if source is None else source != code(claim.paper, claim.check)


def outdated_mark(claim: Claim[Any], record: Mapping[str, Any]) -> str:
    """Say in words what `outdated` returns.

    Args:
        claim: the claim as it is now.
        record: a verdict on it.

    Returns:
        What is shown beside the outcome; "" where the verdict was recorded with the code as it is now.
    """
    return {True: OTHER_CODE, None: NO_DIGEST, False: ""}[outdated(claim, record)]


def measuring_code(function: Callable[..., Any], parameters: Any) -> str:
    """Hash the code behind a figure's tables.

    Args:
        function: what measures them.
        parameters: what it is called with; their class may define what is trained.

    Returns:
        Sixteen hexadecimal digits: of the import closure of both.
    """
    from ..store.closure import code_of
    from ..store.modules import modules_behind

    return code_of(modules_behind(function) | modules_behind(parameters))[:16]


def recording_code(function: Callable[..., Any], parameters: Any, trained_at: Any) -> str | None:
    """Hash the code behind tables that are recorded here and were trained elsewhere.

    Args:
        function: what measures them.
        parameters: what it is called with.
        trained_at: the commit of the training.

    Returns:
        As `measuring_code`; None where this checkout is not exactly at that commit, so that its code may be other code.
    """
    from ..store.origin import commit

    here = commit() or ""
    same = isinstance(trained_at, str) and len(trained_at) >= 7 and here.startswith(trained_at)
    return measuring_code(function, parameters) if same and not here.endswith("+") else None


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
