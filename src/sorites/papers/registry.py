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


passed_over: set[str] = set()  # entry points and slugs of papers that cannot be used


@functools.cache
def papers() -> dict[str, Paper]:
    """Load every paper by its slug, ours first; a plug-in that is broken is passed over with a warning."""
    passed_over.clear()
    found = {}
    for name in OURS:
        paper = importlib.import_module(f"{__package__}.{name}").paper
        found[paper.slug] = paper
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        if entry.value.startswith(f"{__package__}."):
            continue
        try:
            paper = entry.load()
            require(isinstance(paper, Paper), "it is no Paper; use so.Paper")
            other = found.get(paper.slug)
            require(
                other is None, f"its slug {paper.slug!r} is taken by {other.module if other else ''}; use another slug"
            )
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # other people's code may raise anything, and may call exit
            _pass_over(entry.value, error)
            continue
        found[paper.slug] = paper
    return found


def claims() -> dict[str, Claim[Any]]:
    """Every claim by its id."""
    return _all(Paper.claims, "claim")


def figures() -> dict[str, "Figure[Any]"]:
    """Every figure by its id."""
    return _all(Paper.figures, "figure")


def _pass_over(name: str, error: BaseException) -> None:
    passed_over.add(name)
    text = (str(error).splitlines() or [""])[0]
    text = text if isinstance(error, SpecError) else f"{type(error).__name__}: {text}"
    warnings.warn(f"the paper {name} cannot be used and is left out: {text}", stacklevel=1)


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
        try:
            own = of(paper)
            twice = sorted(set(own) & set(found))
            other = found[twice[0]].paper if twice else ""
            require(not twice, f"the id of its {kind} {', '.join(twice)} is taken by {other}; use another id")
        except SpecError as error:
            if paper.module.startswith(f"{__package__}."):
                raise
            _pass_over(paper.slug, error)
            continue
        found |= own
    return found
