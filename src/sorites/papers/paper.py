"""A paper: what it is called, and where its claims and figures are. They are imported only when asked for."""

import dataclasses
import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SpecError, require
from ..ledger import Claim

if TYPE_CHECKING:
    from .figure import Figure


@dataclasses.dataclass(frozen=True)
class Paper:
    """`module` is a package with `claims.py` (CLAIMS, a sequence of `Claim`) and `figures.py` (FIGURES, of `Figure`),
    either of which may be missing. `results` is a folder inside it with tables recorded at paper scale,
    figures/<name>/about.json and Parquet beside it. `about` is a paragraph for whoever has not read it, and `picture`
    the name of the figure that says most: they open its section of the page."""

    slug: str
    title: str
    authors: str
    year: int
    identifier: str  # where it was published
    module: str
    results: str = "results"
    about: str = ""
    picture: str = ""

    def claims(self) -> dict[str, Claim[Any]]:
        """By id."""
        return self._listed("claims", "CLAIMS")

    def figures(self) -> dict[str, "Figure[Any]"]:
        """By id."""
        return self._listed("figures", "FIGURES")

    def results_folder(self) -> Path:
        """Its own recorded measurements; the folder need not be there."""
        return Path(importlib.import_module(self.module).__file__ or "").parent / self.results

    def citation(self) -> str:
        """BibTeX."""
        first = self.authors.split(",")[0].split(" ")[-1].lower()
        key = f"{self.slug}{self.year}" if self.slug.startswith(first) else f"{first}{self.year}-{self.slug}"
        authors = self.authors.replace(", ", " and ")
        return (
            f"@article{{{key},\n  title = {{{self.title}}},\n  author = {{{authors}}},\n"
            f"  year = {{{self.year}}},\n  note = {{{self.identifier}}}\n}}"
        )

    def _listed(self, file: str, name: str) -> dict[str, Any]:
        module = f"{self.module}.{file}"
        try:
            listed = (
                [(each.id, each) for each in getattr(importlib.import_module(module), name)]
                if importlib.util.find_spec(module)
                else []
            )
        except (KeyboardInterrupt, SpecError):
            raise
        except BaseException as error:  # other people's code may raise anything, and may call exit
            text = (str(error).splitlines() or [""])[0]
            raise SpecError(f"{name} in {module} cannot be read ({type(error).__name__}: {text}); fix it") from error
        found: dict[str, Any] = {}
        for id, each in listed:
            if id in found:
                raise SpecError(f"an id is given once: {id} stands twice in {self.slug}; rename one")
            require(each.paper == self.slug, f"{name} of {self.slug} belong to it: {id} names {each.paper!r}; fix it")
            found[id] = each
        return found
