"""A small table of HTML, for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(caption: str, heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table of HTML.

    Args:
        caption: a sentence above the table.
        heading: the names of the columns.
        rows: the cells of each row.

    Returns:
        The table. Every text in it is escaped.
    """
    lines = ["<table>", f"<caption>{escape(caption)}</caption>", f"<thead>{_row('th', heading)}</thead>", "<tbody>"]
    return "\n".join([*lines, *(_row("td", row) for row in rows), "</tbody>", "</table>"])


def _row(tag: str, cells: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
