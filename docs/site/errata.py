"""docs/errata.md: every erratum of the ledger with its evidence, and those under review without an accusation.

python docs/site/errata.py > docs/errata.md
"""

from records import Record, records, rows
from sorites.papers.registry import papers
from sorites.report.mathematics import typeset
from under_review import CLAIMS

HEAD = """# Errata

Places where the printed form of a statement and our computation differ, one entry each. Most are a
constant, an index, a sign or a missing condition; the claim of that id checks the corrected form.
Each entry has a second computation, written from the paper's text alone (`referees/`, compared in
`referees/comparison.md`). **The wording of the entries still has to follow from both; until then,
please do not cite an entry as an error of a paper.** We are grateful for the papers and may have
misread them. Every entry therefore names the place, gives the numbers that made us doubt, and a
command that computes them again on a laptop.

*printed form fails*: the numbers contradict it. *printed form is left open*: the argument as
printed does not give it, and the numbers do not refute it. Made from `docs/verdicts/` by
`docs/site/errata.py`.
"""
REVIEW = """## Under review

An independent check contests our reading of these places, in whole or in part. They do not count as errata.
"""


def document() -> str:
    every = [each for each in records().values() if each["erratum"]]
    found = [each for each in every if each["id"] not in CLAIMS]
    parts = [HEAD, _summary(found)]
    for paper in papers().values():
        own = [each for each in found if each["paper"] == paper.slug]
        if own:
            parts += [f"## {paper.title}\n", f"{paper.authors} ({paper.identifier})\n", *map(_entry, own)]
    return "\n".join([*parts, _under_review([each for each in every if each["id"] in CLAIMS])])


def _under_review(found: list[Record]) -> str:
    lines = ["| claim | paper | place | what is contested, and what will be done |", "|---|---|---|---|"]
    lines += [f"| {each['id']} | {each['paper']} | {_place(each)} | {CLAIMS[each['id']]} |" for each in found]
    return f"{REVIEW}\n" + "\n".join(lines) + "\n"


def _place(record: Record) -> str:
    return record["label"].replace("|", "\\|")


def _summary(found: list[Record]) -> str:
    lines = ["| claim | paper | place | printed form |", "|---|---|---|---|"]
    for each in found:
        lines.append(f"| {each['id']} | {each['paper']} | {_place(each)} | {_judged(each)} |")
    return f"{len(found)} entries.\n\n" + "\n".join(lines) + "\n"


def _judged(record: Record) -> str:
    verdict = record["erratum"]["printed_verdict"]
    return {"inconclusive": "is left open"}.get(verdict, verdict)


def _entry(record: Record) -> str:
    erratum, numbers = record["erratum"], rows(record)
    telling = [row for row in numbers if "printed" in row[0]] or numbers
    table = "\n".join(f"| {typeset(name)} | {predicted} | {measured} |" for name, predicted, measured, _ in telling)
    evidence = f"| quantity | bound or prediction | measured |\n|---|---|---|\n{table}\n" if telling else ""
    return (
        f"### {record['id']}: {record['label']}\n\n"
        f"- Printed: {typeset(erratum['printed'])}\n"
        f"- Corrected: {typeset(erratum['corrected'])}\n"
        f"- The printed form {_judged(record)}; the corrected one {record['verdict']} at {record['scale']} scale.\n"
        f"- To see it: `sorites verify {record['id']}`\n\n{evidence}"
    )


if __name__ == "__main__":
    print(document(), end="")
