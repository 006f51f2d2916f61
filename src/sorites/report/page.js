// The page is whole without this script: it narrows what is shown, moves by keys, copies commands, opens details to
// print, and while work goes on reads the page again where it was.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const rows = all("tr[data-verdict]");
  const pictured = all("tr.pictured");
  const figures = all("figure");
  const papers = all("section.paper");
  const form = document.querySelector(".filters");
  const fields = ["verdict", "erratum", "kind", "paper"];
  const search = form?.elements.search;

  const chosen = () => Object.fromEntries(fields.map((name) => [name, form.elements[name]?.value ?? ""]));
  const words = () => search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const says = (element, wanted) => wanted.every((word) => element.dataset.search.includes(word));

  // A figure stands with its claim; a search may find it alone, a choice of verdict, kind or erratum is about claims.
  const apply = () => {
    const picked = chosen(), wanted = words();
    const claims = picked.verdict || picked.erratum || picked.kind;
    rows.forEach((row) => {
      const fits = fields.every((name) => !picked[name] || row.dataset[name].split(" ").includes(picked[name]));
      row.hidden = !fits || !says(row, wanted);
    });
    figures.forEach((figure) => {
      const owner = figure.closest("tr.pictured")?.dataset.of;
      const shown = owner && !document.getElementById(owner).hidden;
      figure.hidden = !shown && Boolean(claims || (wanted.length && !says(figure, wanted)));
    });
    pictured.forEach((row) => { row.hidden = !row.querySelector("figure:not([hidden])"); });
    papers.forEach((paper) => {
      const other = picked.paper && paper.dataset.paper !== picked.paper;
      const found = paper.querySelector("tr[data-verdict]:not([hidden]), figure:not([hidden])");
      paper.hidden = Boolean(other || ((claims || wanted.length) && !found));
    });
    all("table.ledger").forEach((table) => { table.hidden = !table.querySelector("tbody tr:not([hidden])"); });
    const shown = rows.filter((row) => !row.hidden && !row.closest(".paper").hidden).length;
    form.querySelector(".shown").textContent = shown < rows.length ? `${shown} of ${rows.length} claims` : "";
  };

  const reveal = () => {  // a link to a claim or figure wins over the filters
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!form || !target || target.offsetParent) return;
    form.reset();
    apply();
    target.scrollIntoView();
  };

  if (form) {
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(apply));
    addEventListener("hashchange", reveal);
  }

  const visible = () => rows.filter((row) => row.offsetParent);
  const current = () => rows.indexOf(document.activeElement?.closest?.("tr[data-verdict]"));
  const move = (by) => {
    const open = visible();
    const at = open.indexOf(rows[current()]);
    const from = at >= 0 ? at + by : open.findIndex((row) => row.getBoundingClientRect().bottom > 160);
    const row = open[Math.max(0, Math.min(open.length - 1, from))];
    if (!row) return;
    row.querySelector("a.id").focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  };

  addEventListener("keydown", (event) => {
    if (!form || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches?.("input, select, textarea");
    const onRow = event.target.matches?.("tr[data-verdict] a.id");
    if (event.key === "/" && !typing) search.select();
    else if (event.key === "Escape" && event.target === search) { search.value = ""; apply(); search.blur(); }
    else if (event.key === "ArrowDown" && (onRow || event.target === search)) move(event.target === search ? 0 : 1);
    else if (event.key === "ArrowUp" && onRow) move(-1);
    else if (event.key === "j" && !typing) move(1);
    else if (event.key === "k" && !typing) move(-1);
    else if (event.key === "Enter" && onRow) {
      const details = all("details", event.target.closest("tr"));
      const opening = details.some((each) => !each.open);
      details.forEach((each) => { each.open = opening; });
    } else return;
    event.preventDefault();
  });

  if (navigator.clipboard) {
    all("code").forEach((code) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "copy";
      button.setAttribute("aria-label", `Copy: ${code.textContent}`);
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
        setTimeout(() => { button.textContent = "copy"; }, 1500);
      });
      code.after(button);
    });
  }

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((each) => { each.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));

  // What the reader did survives the page's reading itself again; a browser that keeps nothing only loses that.
  const kept = "sorites-page";
  const named = (details) => `${details.closest("tr")?.id} ${details.querySelector("summary").textContent}`;
  const keep = () => {
    const open = all("details[open]").map(named);
    const values = form ? Object.fromEntries(new FormData(form)) : {};
    const at = document.activeElement === search ? "search" : rows[current()]?.id ?? "";
    try { sessionStorage.setItem(kept, JSON.stringify({ top: scrollY, rows: rows.length, open, values, at })); } catch {}
  };
  const restore = () => {
    let was = null;
    try { was = JSON.parse(sessionStorage.getItem(kept)); sessionStorage.removeItem(kept); } catch {}
    if (!was || was.rows !== rows.length) return;
    Object.entries(was.values).forEach(([name, value]) => { if (form.elements[name]) form.elements[name].value = value; });
    if (form) apply();
    all("details").forEach((each) => { if (was.open.includes(named(each))) each.open = true; });
    (was.at === "search" ? search : document.getElementById(was.at)?.querySelector("a.id"))?.focus({ preventScroll: true });
    scrollTo({ top: was.top, behavior: "instant" });
  };
  restore();
  reveal();

  const { refresh, written } = document.body.dataset;
  if (refresh) {
    const silent = Date.now() / 1000 - Number(written);
    const late = silent > 120;  // whoever writes it says something every minute
    if (late) {
      const news = document.querySelector(".news");
      news.classList.add("late");
      news.textContent += ` Nothing was written for ${Math.round(silent / 60)} minutes: the command may have ended; given again, it goes on where it stopped.`;
    }
    setTimeout(() => { keep(); location.reload(); }, 1000 * Number(refresh) * (late ? 6 : 1));
  }
})();
