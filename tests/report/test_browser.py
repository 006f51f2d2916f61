"""The page's script in a real browser: search, filters, keys, and what survives the page's reading itself again."""

import json
import re
import shutil
import subprocess

import pytest
from test_page import ABOUT, claim, drawing

from sorites.report.page import document

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PROBE = """<script>
const seen = {}, visible = (what) => [...document.querySelectorAll(what)].filter((each) => each.offsetParent);
const shown = () => visible("tr[data-verdict]").map((row) => row.id);
const figures = () => visible("figure").length;
const press = (key, at = document.activeElement) =>
  at.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const form = document.querySelector(".filters"), box = form.elements.search;
const type = (text) => { box.value = text; form.dispatchEvent(new Event("input")); };
const choose = (field, value) => { form.elements[field].value = value; form.dispatchEvent(new Event("input")); };
seen.all = shown();
type("eps cos"); seen.words = shown();
type("median"); seen.figure = [shown(), figures()];
type("LI-2"); seen.beside = [shown(), figures()];
type(""); choose("erratum", "fails"); seen.erratum = [shown(), form.querySelector(".shown").textContent];
choose("erratum", ""); choose("paper", "rl-sft"); seen.paper = shown();
choose("paper", "");
press("/", document.body); seen.slash = document.activeElement.name;
press("ArrowDown"); seen.down = document.activeElement.textContent;
press("j"); seen.j = document.activeElement.textContent;
press("k"); seen.k = document.activeElement.textContent;
press("Enter"); seen.opened = document.activeElement.closest("tr").querySelector("details").open;
document.body.dataset.seen = JSON.stringify(seen);
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no browser here")
def test_search_filters_and_keys(tmp_path):
    erratum = {"printed": "x < 1", "corrected": "x < 2", "printed_verdict": "fails"}
    records = [
        claim("LI-1", says="eps_t <= 1 - cos(pi e)"),
        claim("LI-2", erratum=erratum),
        claim("RS-8", paper="rl-sft", kind="trend"),
    ]
    text = document(title="t", verdicts=records, figures=[drawing(tmp_path)], about=ABOUT)
    (tmp_path / "page.html").write_text(text.replace("</body>", PROBE + "</body>"))
    words = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    address = f"file://{tmp_path / 'page.html'}"
    done = subprocess.run([*words, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found, done.stderr
    seen = json.loads(found[1].replace("&quot;", '"'))
    assert seen == {
        "all": ["LI-1", "LI-2", "RS-8"],
        "words": ["LI-1"],  # both words, in the notation that one types
        "figure": [[], 1],  # found by its caption, without its claim
        "beside": [["LI-2"], 1],  # stands with its claim
        "erratum": [["LI-2"], "1 of 3 claims"],
        "paper": ["RS-8"],
        "slash": "search",
        "down": "LI-1",
        "j": "LI-2",
        "k": "LI-1",
        "opened": True,
    }
