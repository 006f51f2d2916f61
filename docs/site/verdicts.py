"""docs/verdicts.md: every claim with its first comparison and its verdict at quick scale.

python docs/site/verdicts.py > docs/verdicts.md
"""

from records import Record, judged, records
from sorites.papers.registry import papers

HEAD = """# Verdicts at quick scale

Two CPU cores. A verdict judges the statement in this table; where the printed form differs, the
last column says what became of it. `sorites verify ID` shows every number and departure. Claims
*under review* are contested by an independent check; their pages say why. The page of a claim says
whether its verdict was recorded with other code. Made from `docs/verdicts/` by
`docs/site/verdicts.py`.
"""


def document() -> str:
    parts, found = [HEAD], list(records().values())
    for paper in papers().values():
        own = [each for each in found if each["paper"] == paper.slug]
        if own:
            seconds = sum(each["seconds"] for each in own)
            parts.append(f"## {paper.title}\n\n`{paper.slug}`, {len(own)} claims, {seconds:.0f} s.\n")
            parts.append("| claim | in the paper | says | predicted → measured | verdict |\n|---|---|---|---|---|")
            parts.append("\n".join(map(_row, own)) + "\n")
    return "\n".join(parts)


def _row(record: Record) -> str:
    predicted, measured, prefix = record["predicted"], record["measured"], ""
    if isinstance(measured, dict):  # the first comparison; `sorites verify` shows all
        name = next(iter(measured))
        predicted, measured, prefix = predicted[name], measured[name], f"{name}: "
    numbers = f"{prefix}{_number(predicted)} → {_number(measured)}"
    cells = (record["id"], record["label"], record["says"], numbers, judged(record))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _number(value: float | None) -> str:
    return "·" if value is None else f"{value:.4g}"


if __name__ == "__main__":
    print(document(), end="")
