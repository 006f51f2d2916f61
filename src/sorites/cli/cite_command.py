"""sorites cite [ID]"""

from typing import Any

from ..papers.paper import PAPERS
from .common import all_claims, all_figures, emit, nearest

OWN = """@software{sorites,
  title = {sorites: a laboratory for how transformers come to reason in chains},
  author = {{The sorites authors}},
  year = {2026},
  version = {0.1.0},
  license = {Apache-2.0}
}"""


def execute(options: Any) -> int:
    text = OWN
    if options.id:
        owners = {slug: slug for slug in PAPERS}
        owners |= {id: claim.paper for id, claim in all_claims().items()}
        owners |= {id: figure.paper for id, figure in all_figures().items()}
        if options.id not in owners:
            raise nearest("paper, claim or figure", options.id, owners)
        text = PAPERS[owners[options.id]].citation()
    if not emit(options, {"bibtex": text}):
        print(text)
    return 0
