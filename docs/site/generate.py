"""What the site makes from the ledger at every build: a page per claim, tables per paper, the reference, the pictures.

python docs/site/generate.py        # conf.py does the same
"""

import shutil
from pathlib import Path

import reference
import tested
from claim_pages import page, table
from records import records
from sorites.cli.play_command import FOLDER as PLAYGROUND
from sorites.papers.registry import figures, papers
from sorites.report.figures import make_figure
from sorites.store import Store

SITE = Path(__file__).parent
OUT = SITE / "generated"
PICTURES = {  # drawn from what is recorded under results/, or in seconds
    "log-icot/1": "quick",
    "log-icot/2b": "paper",
    "log-icot/success-map": "paper",
    "log-icot/variants": "paper",
    "kim-suzuki/1": "quick",
    "kim-suzuki/3": "quick",
    "kim-suzuki/exp-k32": "paper",
    "kim-suzuki/exponent": "paper",
    "kim-suzuki/filter-range": "paper",
    "rl-sft/2": "quick",
    "rl-sft/finite-samples": "paper",
    "rl-sft/label-noise": "paper",
    "wen/3b": "paper",
    "wen/1a": "paper",
    "lego/4": "tiny",
    "lego/1a": "paper",
    "lego/1b": "paper",
    "lego/separation": "paper",
}


def write() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    for folder in ("claims", "tables", "reference", "pictures"):
        (OUT / folder).mkdir(parents=True)
    found = records()
    for paper in papers().values():
        own = list(paper.claims().values())
        (OUT / "tables" / f"{paper.slug}.md").write_text(table(own, found))
        for claim in own:
            (OUT / "claims" / f"{claim.id}.md").write_text(page(claim, paper, found.get(claim.id)))
    for name in reference.PAGES:
        (OUT / "reference" / f"{name}.md").write_text(reference.document(name))
    (OUT / "tables" / "versions.md").write_text(tested.table())
    shutil.copytree(PLAYGROUND, OUT / "beside" / "playground")
    draw()


def draw() -> None:
    store, known = Store(OUT / "store"), figures()
    for id, scale in PICTURES.items():
        figure = known[id]
        size = figure.sizes.get(scale) or figure.sizes["quick"]
        made = make_figure(figure, size, scale, store, OUT / "pictures", f"sorites figure {id}")
        made.png.rename(made.png.with_name(f"{figure.name}.png"))  # pages name a picture without its scale


if __name__ == "__main__":
    write()
