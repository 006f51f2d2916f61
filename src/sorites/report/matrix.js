// The table is whole without this script (success, and the refusals below it): it switches the price and opens a cell.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const make = (name, attributes = {}, text = "") => {
    const node = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
    node.textContent = text;
    return node;
  };
  const short = (value) => {
    if (value < 1000) return String(Math.round(value));
    const power = Math.min(6, Math.floor(Math.log10(value) / 3));
    return `${Number((value / 1000 ** power).toPrecision(3))}${["", " k", " M", " G", " T", " P", " E"][power]}`;
  };

  document.querySelectorAll(".matrix:not([data-ready])").forEach((root) => {
    root.dataset.ready = "";
    const { cells, prices } = JSON.parse(root.querySelector("script").textContent);
    const buttons = [...root.querySelectorAll("td button")];
    const line = root.querySelector(".line");
    const panel = root.querySelector(".panel");
    const rows = [...root.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("button")]);
    let price = "success";
    let opened = null;
    const of = (button) => cells[Number(button.dataset.cell)];

    // What one price of a cell is: a median [value or null, lower bound, low, high], and where it stands among all cells.
    const words = (cell, name) => {
      if (!cell.members) return `refused: ${cell.why}`;
      if (name === "success") return `${cell.solved} of ${cell.members} members at the goal (95 %: ${cell.low.toFixed(2)} to ${cell.high.toFixed(2)})`;
      if (name === "passes") return cell.passes === null ? "no passes are counted" : `${cell.passes} ${cell.passes === 1 ? "pass" : "passes"} per answer`;
      const [value, bound, low, high] = cell.medians[name];
      if (bound === 0) return `${prices[name]}: none`;
      const range = `95 %: ${low === null ? "0" : short(low)} to ${high === null ? "beyond the budget" : short(high)}`;
      return value === null ? `${prices[name]}: more than ${short(bound)} in the median, not reached by half (${range})` : `${prices[name]}: median ${short(value)} (${range})`;
    };
    const scale = (name) => {
      const found = cells.filter((cell) => cell.members).map((cell) => (name === "passes" ? cell.passes : cell.medians[name][1])).filter((value) => value > 0);
      const [least, most] = [Math.log(Math.min(...found)), Math.log(Math.max(...found))];
      return (value) => (value > 0 && most > least ? Math.min(1, Math.max(0, (Math.log(value) - least) / (most - least))) : 0);
    };
    const paint = () => {
      const place = price === "success" ? null : scale(price);
      buttons.forEach((button) => {
        const cell = of(button);
        button.setAttribute("aria-label", `${cell.labels.join(", ")}: ${words(cell, price)}`);
        if (!cell.members) return;
        const [strong, small] = [button.querySelector("b"), button.querySelector("small")];
        const set = (share, low, high, at) => Object.entries({ share, low, high, at }).forEach(([key, value]) => button.style.setProperty(`--${key}`, value));
        button.querySelector(".span").hidden = price === "passes";
        delete button.dataset.open;
        small.textContent = `${cell.solved}/${cell.members}`;
        if (price === "success") {
          strong.textContent = `${cell.solved}/${cell.members}`;
          small.textContent = `${cell.low.toFixed(2)}–${cell.high.toFixed(2)}`;
          set(cell.solved / cell.members, cell.low, cell.high, cell.solved / cell.members);
        } else if (price === "passes") {
          strong.textContent = cell.passes === null ? "·" : String(cell.passes);
          set(place(cell.passes), 0, 0, 0);
        } else {
          const [value, bound, low, high] = cell.medians[price];
          if (value === null) button.dataset.open = "";
          strong.textContent = `${value === null ? ">\u202f" : ""}${short(bound)}`;
          set(place(bound), low === null ? 0 : place(low), high === null ? 1 : place(high), place(bound));
        }
      });
      if (opened) show(opened);
    };

    const axes = (svg, most, say, top) => {
      svg.append(make("path", { class: "axis", d: "M50 10 V170 H630" }));
      const rough = most / 5;
      const unit = 10 ** Math.floor(Math.log10(rough));
      const tick = [1, 2, 5, 10].find((each) => each * unit >= rough) * unit;
      for (let value = 0; value <= most; value += tick) svg.append(make("text", { x: 50 + (580 * value) / most, y: 186, "text-anchor": "middle" }, say(value)));
      for (let part = 0; part <= 4; part += 1) {
        if (top) svg.append(make("path", { class: "grid", d: `M50 ${10 + part * 40} H630` }), make("text", { x: 44, y: 14 + part * 40, "text-anchor": "end" }, String(1 - part / 4)));
      }
    };
    const end = (x, y, solved) => solved ? make("circle", { class: "end", cx: x, cy: y, r: 3.2 }) : make("path", { class: "end open", d: `M${x - 4} ${y - 4} l8 4 l-8 4 z` });
    const curves = (cell) => {
      const svg = make("svg", { viewBox: "0 0 640 205", role: "img", "aria-label": `Curves of ${cell.members} members: ${words(cell, "success")}` });
      const most = Math.max(1, ...cell.curves.flatMap(([steps]) => steps));
      axes(svg, most, short, true);
      svg.append(make("text", { x: 340, y: 202, "text-anchor": "middle" }, `training step; vertical: ${cell.metric}`));
      cell.curves.forEach(([steps, values], member) => {
        const points = steps.map((step, index) => [50 + (580 * step) / most, 170 - 1.6 * values[index]]);
        const solved = cell.reached[member];
        svg.append(make("polyline", { class: solved ? "curve" : "curve open", points: points.map((point) => point.map((each) => each.toFixed(1)).join(",")).join(" ") }));
        if (points.length) svg.append(end(...points.at(-1), solved));
      });
      return svg;
    };
    const times = (cell) => {
      const name = cell.times[price] ? price : "samples";
      const svg = make("svg", { viewBox: "0 0 640 205", role: "img", "aria-label": `Members' ${prices[name]}: ${words(cell, name)}` });
      const most = Math.max(1, ...cell.times[name]);
      axes(svg, most, short, false);
      svg.append(make("text", { x: 340, y: 202, "text-anchor": "middle" }, prices[name]));
      cell.times[name].forEach((value, member) => svg.append(end(50 + (580 * value) / most, 18 + (146 * member) / cell.members, cell.reached[member])));
      return svg;
    };
    const show = (button) => {
      const cell = of(button);
      const close = Object.assign(document.createElement("button"), { type: "button", className: "close", textContent: "close" });
      close.addEventListener("click", () => { hide(); button.focus(); });
      panel.replaceChildren(close, Object.assign(document.createElement("h4"), { textContent: cell.labels.join(" · ") }));
      const say = (text, tag = "p") => panel.append(Object.assign(document.createElement(tag), { textContent: text }));
      if (cell.members) {
        say(words(cell, "success"));
        const list = document.createElement("dl");
        ["samples", "labels", "thoughts", "flops", "passes"].forEach((name) => {
          const said = words(cell, name);
          const item = document.createElement("div");
          const parts = name === "passes" ? ["passes per answer", String(cell.passes ?? "·")] : [prices[name], said.slice(said.indexOf(": ") + 2)];
          item.append(Object.assign(document.createElement("dt"), { textContent: parts[0] }), Object.assign(document.createElement("dd"), { textContent: parts[1] }));
          list.append(item);
        });
        panel.append(list);
        panel.append(cell.curves ? curves(cell) : times(cell));
        say(`● reached the goal   ▷ did not within the budget (censored there). Rate ${cell.rate}, the best of the grid on seeds apart.`);
        panel.lastChild.className = "key";
        if (cell.why) say(cell.why);
      } else {
        say(`Refused: ${cell.why}`);
      }
      panel.append(Object.assign(document.createElement("code"), { textContent: cell.command }));
      panel.hidden = false;
      opened = button;
      buttons.forEach((each) => each.setAttribute("aria-expanded", String(each === button)));
    };
    const hide = () => {
      panel.hidden = true;
      opened = null;
      buttons.forEach((each) => each.setAttribute("aria-expanded", "false"));
    };

    // One stop of the tab key for the table, arrows within it.
    const rove = (button) => buttons.forEach((each) => { each.tabIndex = each === button ? 0 : -1; });
    const arrows = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    buttons.forEach((button) => {
      const tell = () => { line.textContent = `${of(button).labels.join(" · ")}: ${words(of(button), price)}`; };
      button.addEventListener("mouseenter", tell);
      button.addEventListener("focus", () => { rove(button); tell(); });
      button.addEventListener("click", () => (opened === button ? hide() : (show(button), panel.scrollIntoView({ block: "nearest" }))));
      button.addEventListener("keydown", (event) => {
        const row = rows.findIndex((each) => each.includes(button));
        const column = rows[row].indexOf(button);
        const move = arrows[event.key] ?? { Home: [0, -column], End: [0, rows[row].length - 1 - column] }[event.key];
        const next = move && rows[row + move[0]]?.[column + move[1]];
        if (event.key === "Escape") hide();
        if (!next) return;
        event.preventDefault();
        next.focus();
      });
    });
    root.querySelectorAll("input").forEach((input) => input.addEventListener("change", () => { price = input.value; paint(); }));
    root.querySelector("fieldset").hidden = false;
    line.hidden = false;
    rove(buttons[0]);
    paint();
  });
})();
