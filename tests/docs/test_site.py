"""The pages of the site: links lead somewhere, errata are those of the record, nothing is fetched."""

import re
from pathlib import Path

import pytest

import claim_pages
import errata
import generate
import records
import reference
import under_review
import verdicts
from sorites.cli.main import build
from sorites.papers.registry import claims, code, figures, papers
from sorites.training.cells import Sizes, run_named

SITE = Path(generate.__file__).parent
DOCS = SITE.parent
PAGES = sorted([*DOCS.glob("*.md"), *(path for path in SITE.rglob("*.md") if "generated" not in path.parts)])
LINK = re.compile(r"\]\(([^)#\s]+\.(?:md|png|py))(?:#[^)]*)?\)|\{(?:image|include|literalinclude)\} (\S+)")
MADE = {
    *(f"claims/{id}.md" for id in claims()),
    *(f"tables/{name}.md" for name in (*papers(), "versions")),
    *(f"reference/{page}.md" for page in reference.PAGES),
    *(f"pictures/{id}.png" for id in generate.PICTURES),
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_links_lead_somewhere(path):
    home = SITE / "generated" / "reference" if path.parent.name == "examples" else path.parent
    for link in (one or other for one, other in LINK.findall(path.read_text())):
        target = Path(*(home / link).resolve().parts)
        made = target.relative_to(SITE / "generated").as_posix() if (SITE / "generated") in target.parents else None
        assert made in MADE if made else target.exists(), f"{path.name}: {link}"


def test_every_page_is_in_a_table_of_contents():
    listed = "\n".join(path.read_text() for path in PAGES)
    for path in SITE.rglob("*.md"):
        name = path.relative_to(SITE).with_suffix("").as_posix()
        if "generated" not in path.parts and path.parent.name != "examples" and name != "index":
            assert re.search(rf"^(?:.* <)?{re.escape(name)}>?$", listed, re.MULTILINE), name


def test_the_front_page_shows_what_its_example_prints(capsys):
    page = (SITE / "index.md").read_text()
    (block,), (shown,) = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "text"))
    exec(block, {})
    assert capsys.readouterr().out == shown


def test_every_paper_has_a_page_that_shows_its_claims():
    for slug, paper in papers().items():
        assert f"generated/tables/{slug}.md" in (SITE / "papers" / f"{slug}.md").read_text()
        contents = claim_pages.table(list(paper.claims().values()), {}).split("{toctree}")[1]
        assert re.findall(r"^\.\./generated/claims/(\S+)$", contents, re.MULTILINE) == list(paper.claims())


def test_pictures_are_figures_that_need_no_training():
    for id, scale in generate.PICTURES.items():
        figure = figures()[id]
        recorded = (Path(generate.__file__).parents[2] / "results" / "figures" / id / "about.json").exists()
        assert recorded if scale == "paper" else figure.seconds <= 8, id


def test_errata_and_verdicts_are_those_of_the_record():
    """python docs/site/errata.py > docs/errata.md; python docs/site/verdicts.py > docs/verdicts.md"""
    assert (DOCS / "errata.md").read_text() == errata.document()
    assert (DOCS / "verdicts.md").read_text() == verdicts.document()


def test_a_verdict_recorded_with_other_code_is_marked():
    paper, record = papers()["log-icot"], records.records()["LI-1"] | {"source": None}
    claim = paper.claims()["LI-1"]
    for source, mark in (
        (None, "without a digest"),
        ("0" * 16, "with other code"),
        (code("log-icot", claim.check), ""),
    ):
        found = record | {"source": source}
        outcome = claim_pages.page(claim, paper, found).split("## Verdict")[1].split("\n\n")[1]
        assert ("recorded" in outcome) == bool(mark)
        assert mark in outcome
        table = claim_pages.table([claim], {"LI-1": found})
        assert ("recorded" in table) == bool(mark)
        assert mark in table


def test_an_erratum_has_place_forms_evidence_and_command():
    found = [each for each in records.records().values() if each["erratum"] and each["id"] not in under_review.CLAIMS]
    text = (DOCS / "errata.md").read_text()
    assert found
    for record in found:
        entry = text.split(f"### {record['id']}: {record['label']}\n")[1].split("\n### ")[0]
        for part in ("- Printed: ", "- Corrected: ", f"`sorites verify {record['id']}`", "| quantity |"):
            assert part in entry, record["id"]


COMMANDS = sorted(
    {
        line.split("#")[0].strip()
        for path in PAGES
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(), re.DOTALL)
        for line in block.splitlines()
        if line.startswith("sorites ") and "sixth" not in line
    }
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_name_what_there_is(command):
    """They are parsed here and run elsewhere: the README's by its own test, a claim's by the tests of its paper."""
    options, rest = build().parse_known_args(command.split()[1:])
    known = claims() | figures() | papers()
    assert {options.id} <= set(known) if "id" in options else True
    assert set(getattr(options, "ids", ())) <= set(known)
    assert getattr(options, "paper", None) in (None, *papers())
    if options.command == "verify":
        flags = {word.removeprefix("--").replace("-", "_") for word in rest if word.startswith("--")}
        assert flags <= {name for id in options.ids for name in known[id].flags}
    if options.command == "run" and options.task:
        sizes = Sizes(options.bits, options.sparsity, options.decomposition, options.length, options.action)
        assert run_named(options.task, options.model, options.supervision, sizes).stages
    if options.command == "run" and options.file:
        assert (DOCS.parent / options.file).is_file()
