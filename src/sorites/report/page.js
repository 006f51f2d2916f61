// The page is whole without this script: it only narrows the table, copies commands and opens details to print.
(() => {
  const rows = [...document.querySelectorAll("tr[data-verdict]")];
  const bar = document.querySelector(".filters");
  const buttons = bar ? [...bar.querySelectorAll("button")] : [];
  const chosen = { verdict: "", paper: "" };

  const matches = (row) =>
    (!chosen.paper || row.dataset.paper === chosen.paper) &&
    (!chosen.verdict || [row.dataset.verdict, ...row.dataset.flags.split(" ")].includes(chosen.verdict));

  const apply = () => {
    rows.forEach((row) => { row.hidden = !matches(row); });
    buttons.forEach((b) => b.setAttribute("aria-pressed", String(chosen[b.dataset.field] === b.dataset.value)));
    const shown = rows.filter((row) => !row.hidden).length;
    bar.querySelector(".shown").textContent = shown < rows.length ? `${shown} of ${rows.length} shown` : "";
  };

  const reveal = () => {  // a link to a claim wins over the filters
    const row = rows.find((r) => `#${r.id}` === decodeURIComponent(location.hash));
    if (!row || !row.hidden) return;
    chosen.verdict = chosen.paper = "";
    apply();
    row.scrollIntoView();
  };

  if (bar) {
    bar.hidden = false;
    buttons.forEach((b) => b.addEventListener("click", () => { chosen[b.dataset.field] = b.dataset.value; apply(); }));
    addEventListener("hashchange", reveal);
  }

  if (navigator.clipboard) {
    document.querySelectorAll("code").forEach((code) => {
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
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((d) => { d.open = false; }));
})();
