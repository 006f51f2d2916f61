"""Figures embedded in the page, each with its caption, its finding and the command that made it."""

import base64
import struct
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import require
from .matrix import beside

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def figure(entry: Mapping[str, Any]) -> str:
    """One `figure`; the anchor is the figure's name with dashes: `figure-log-icot-2b`."""
    anchor = "figure-" + entry["id"].replace("/", "-")
    finding = entry["finding"]
    shown = f'<p class="finding"><strong>Finding.</strong> {escape(finding)}</p>' if finding else ""
    return (
        f'<figure id="{escape(anchor)}">{_image(entry)}<figcaption>'
        f'<h3><a class="id" href="#{escape(anchor)}">{escape(entry["id"])}</a> {escape(entry["title"])}</h3>'
        f"<p>{escape(entry['caption'])}</p>{shown}"
        f'<p class="command"><code>{escape(entry["command"])}</code></p>'
        f'<p class="small">{_facts(entry)}</p></figcaption>{beside(entry)}</figure>'
    )


def _image(entry: Mapping[str, Any]) -> str:
    """The picture as a data address, with its size so that nothing moves while the page opens."""
    content = Path(entry["png"]).read_bytes()
    require(
        content.startswith(SIGNATURE) and len(content) > 24,
        f"a figure on the page is a PNG file: png={str(entry['png'])!r}; draw {entry['id']} again",
    )
    width, height = struct.unpack(">II", content[16:24])
    address = "data:image/png;base64," + base64.b64encode(content).decode("ascii")
    alternative = f"{entry['title']}. {entry['finding'] or entry['caption']}"
    return f'<img src="{address}" width="{width}" height="{height}" alt="{escape(alternative)}">'


def _facts(entry: Mapping[str, Any]) -> str:
    """Seeds, scale and the files beside the page; quoting keeps every link a relative path."""
    seeds = entry["seeds"]
    facts = [f"{seeds:,} seed{'' if seeds == 1 else 's'}"] if seeds else []
    facts.append(f"scale {escape(str(entry['scale']))}")
    facts += [
        f'<a href="{escape(quote(str(entry[key])))}">{name}</a>'
        for key, name in (("pdf", "PDF"), ("data", "data (Parquet)"))
        if entry[key]
    ]
    return " · ".join(facts)
