"""Figures embedded in the page, each with its caption, its finding and the command that made it."""

import base64
import functools
import io
import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image

from ..errors import require
from .matrix import beside
from .page_mathematics import html
from .page_words import badge

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def anchor(id: str) -> str:
    """The figure's name with dashes: `figure-log-icot-2b`."""
    return "figure-" + id.replace("/", "-")


def gallery(figures: Sequence[Mapping[str, Any]]) -> str:
    """One figure has its caption beside it, several stand side by side above theirs."""
    style = "gallery several" if len(figures) > 1 else "gallery"
    return f'<div class="{style}">{"".join(map(figure, figures))}</div>'


def figure(entry: Mapping[str, Any]) -> str:
    name, finding = escape(anchor(entry["id"])), entry["finding"]
    shown = f'<p class="finding"><strong>Finding.</strong> {html(finding)}</p>' if finding else ""
    return (
        f'<figure id="{name}" data-search="{escape(_searched(entry))}">{_picture(entry)}<figcaption>'
        f'<h4><a class="id" href="#{name}">{escape(entry["id"])}</a> {html(entry["title"])}</h4>'
        f"<p>{html(entry['caption'])}</p>{shown}"
        f'<p class="command"><code>{escape(entry["command"])}</code></p>'
        f'<p class="small">{_facts(entry)}</p></figcaption>{beside(entry)}</figure>'
    )


def _searched(entry: Mapping[str, Any]) -> str:
    return " ".join(entry[name] or "" for name in ("id", "title", "caption", "finding")).lower()


def _picture(entry: Mapping[str, Any]) -> str:
    """The picture as a data address, with its size so that nothing moves while the page opens; on a dark screen the
    picture drawn for one. What is not drawn yet is an empty frame that says so."""
    if entry["png"] is None:
        state = entry["state"]
        note = f'<span class="small">{escape(entry["note"])}</span>' if entry["note"] else ""
        return f'<div class="empty">{badge(state, state.capitalize())}{note}</div>'
    address, width, height = _embedded(Path(entry["png"]), entry["id"])
    alternative = f"{entry['title']}. {entry['finding'] or entry['caption']}"
    image = f'<img src="{address}" width="{width}" height="{height}" alt="{escape(alternative)}">'
    if not entry.get("dark"):
        return image
    dark, _, _ = _embedded(Path(entry["dark"]), entry["id"])
    return f'<picture><source media="screen and (prefers-color-scheme: dark)" srcset="{dark}">{image}</picture>'


def _embedded(path: Path, id: str) -> tuple[str, int, int]:
    return _read(path, os.stat(path).st_mtime_ns, id)


@functools.lru_cache(maxsize=512)
def _read(path: Path, _written: int, id: str) -> tuple[str, int, int]:
    """A page that fills is written often, a picture once; 256 colours are enough for one, and a third of the bytes."""
    content = path.read_bytes()
    require(
        content.startswith(SIGNATURE) and len(content) > 24,
        f"a figure on the page is a PNG file: png={str(path)!r}; draw {id} again",
    )
    small = io.BytesIO()
    with Image.open(io.BytesIO(content)) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, "png", optimize=True)
        width, height = picture.size
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode("ascii"), width, height


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
