"""The pages docs/site/results/*.md: what was found about each paper, filled in from the records.

python docs/site/results.py        # writes them; tests/docs/test_results.py keeps them in step
"""

from pathlib import Path

from findings import MODULES, Finding, Table, findings
from sorites.papers.registry import claims, figures, papers
from under_review import note

PAGES = Path(__file__).parent / "results"
LONG = 16  # rows of a table that stays folded


def document(slug: str) -> str:
    """The page of one paper, or of the atlas."""
    paper = papers()[slug]
    parts = [
        f"# Results: {paper.title}",
        f"[About the paper](../papers/{slug}.md) · [its errata](../errata.md). Each number is filled in from the "
        "record named below it, by `docs/site/results.py`.",
        *(_section(each) for each in findings(slug)),
    ]
    return "\n\n".join(parts) + "\n"


def _section(finding: Finding) -> str:
    parts = [f"## {finding.title}", note(finding.sources), finding.words(), _picture(finding.picture)]
    return "\n\n".join(part for part in (*parts, _table(finding.table()), _sources(finding)) if part)


def _picture(figure: str) -> str:
    if not figure:
        return ""
    title = figures()[figure].title
    return f"```{{image}} ../generated/pictures/{figure}.png\n:alt: {title}.\n:width: 100%\n```"


def _table(table: Table) -> str:
    head, rows = table
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    text = "\n".join("| " + " | ".join(_cell(each) for each in line) + " |" for line in lines)
    if len(rows) <= LONG:
        return text
    return f"<details><summary>The table, {len(rows)} rows</summary>\n\n{text}\n\n</details>"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def _sources(finding: Finding) -> str:
    """Claims with their pages, and the commands that draw the figures again."""
    known = claims()
    links = [f"[{id}](../generated/claims/{id}.md)" for id in finding.sources if id in known]
    drawn = [f"`sorites figure {id} --scale paper`" for id in finding.sources if id not in known]
    records = [f"`results/{finding.record}`"] if finding.record else []
    return "From: " + ", ".join([*links, *drawn, *records]) + "."


def write() -> None:
    PAGES.mkdir(exist_ok=True)
    for slug in MODULES:
        (PAGES / f"{slug}.md").write_text(document(slug))


if __name__ == "__main__":
    write()
