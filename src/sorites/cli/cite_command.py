"""sorites cite [ID ...]"""

from typing import Any

from .. import __version__
from ..papers import registry
from .common import all_claims, all_figures, emit, nearest

OWN = """@software{sorites,
  title = {sorites: a laboratory for how transformers come to reason in chains},
  author = {{The sorites authors}},
  year = {2026},
  version = {%s},
  license = {Apache-2.0}
}"""


def execute(options: Any) -> int:
    text = OWN % __version__
    if options.ids:
        owners = {slug: slug for slug in registry.papers()}
        owners |= {id: claim.paper for id, claim in all_claims().items()}
        owners |= {id: figure.paper for id, figure in all_figures().items()}
        for id in options.ids:
            if id not in owners:
                raise nearest("paper, claim or figure", id, owners)
        cited = dict.fromkeys(owners[id] for id in options.ids)  # each paper once
        text = "\n\n".join(registry.papers()[slug].citation() for slug in cited)
    if not emit(options, {"bibtex": text}):
        print(text)
    return 0
