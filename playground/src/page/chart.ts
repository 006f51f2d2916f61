/** Curves with their bands, the law's diamonds, and the legend. */
import type { Axis, Chart } from "../exhibits/types";
import { COLOURS, DASHES, line, type Look, opened } from "./canvas";

function limits(axis: Axis, values: number[]): [number, number] {
  const kept = axis.log ? values.filter((value) => value > 0) : values;
  let low = axis.low ?? Math.min(...kept, Infinity);
  let high = axis.high ?? Math.max(...kept, -Infinity);
  if (!Number.isFinite(low)) low = axis.log ? 1 : 0;
  if (!Number.isFinite(high) || high <= low) high = axis.log ? low * 10 : low + 1;
  return [low, high];
}

function ticks(axis: Axis, low: number, high: number): number[] {
  if (axis.log) {
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const last = Math.floor(Math.log10(high) + 1e-9);
    const every = Math.max(1, Math.ceil((last - first) / 5));
    return Array.from({ length: Math.max(0, Math.floor((last - first) / every) + 1) }, (_, i) => 10 ** (first + i * every));
  }
  const rough = (high - low) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((each) => each >= rough) ?? 10 * unit;
  const found: number[] = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + 1e-9 * step; tick += step) found.push(tick);
  return found;
}

function shown(value: number): string {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3) return value.toExponential(0).replace("e+", "e");
  return String(Number(value.toPrecision(6)));
}

export function chart(canvas: HTMLCanvasElement, panel: Chart, colours: Look): void {
  const [context, width] = opened(canvas, 270);
  const box = { left: 52, right: width - 14, top: 12, bottom: 270 - 40 };
  const [low, high] = limits(panel.x, panel.lines.flatMap(({ x }) => x));
  const [floor, top] = limits(panel.y, panel.lines.flatMap(({ y, low = [], high = [] }) => [...y, ...low, ...high]));
  const place = (axis: Axis, value: number, from: number, to: number): number =>
    axis.log ? Math.log(Math.max(value, from) / from) / Math.log(to / from) : (value - from) / (to - from);
  const across = (value: number): number => box.left + place(panel.x, value, low, high) * (box.right - box.left);
  const up = (value: number): number => box.bottom - Math.min(Math.max(place(panel.y, value, floor, top), 0), 1) * (box.bottom - box.top);

  if (panel.shade) {
    context.fillStyle = colours.empty;
    context.fillRect(across(panel.shade.from), box.top, across(panel.shade.to) - across(panel.shade.from), box.bottom - box.top);
  }
  context.strokeStyle = context.fillStyle = colours.quiet;
  context.lineWidth = 0.5;
  context.textAlign = "right";
  for (const tick of ticks(panel.y, floor, top)) {
    line(context, [box.left, box.right], [up(tick), up(tick)]);
    context.fillText(shown(tick), box.left - 6, up(tick));
  }
  context.textAlign = "center";
  for (const tick of ticks(panel.x, low, high)) context.fillText(shown(tick), across(tick), box.bottom + 12);
  context.fillText(panel.x.label, (box.left + box.right) / 2, box.bottom + 29);
  context.save();
  context.translate(9, (box.top + box.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(panel.y.label, 0, 0);
  context.restore();
  context.setLineDash([2, 3]);
  context.lineWidth = 1;
  for (const stage of panel.stages ?? []) line(context, [across(stage), across(stage)], [box.top, box.bottom]);
  context.setLineDash([]);

  for (const each of panel.lines) {
    context.strokeStyle = context.fillStyle = COLOURS[each.colour][colours.dark ? 1 : 0];
    const x = each.x.map(across);
    if (each.low && each.high) {
      context.globalAlpha = 0.16;
      context.beginPath();
      each.low.forEach((value, i) => context.lineTo(x[i], up(value)));
      for (let i = x.length - 1; i >= 0; i--) context.lineTo(x[i], up(each.high[i]));
      context.fill();
      context.globalAlpha = 1;
    }
    context.lineWidth = 2;
    context.setLineDash(each.dashed ? [4, 4] : DASHES[each.colour]);
    line(context, x, each.y.map(up));
    context.setLineDash([]);
    if (x.length <= 12) x.forEach((at, i) => context.fillRect(at - 2.5, up(each.y[i]) - 2.5, 5, 5));
  }
  for (const { x, y } of panel.diamonds ?? []) {
    context.fillStyle = COLOURS.vermillion[colours.dark ? 1 : 0];
    context.strokeStyle = colours.paper;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [dx, dy] of [[0, -7], [7, 0], [0, 7], [-7, 0]]) context.lineTo(across(x) + dx, up(y) + dy);
    context.closePath();
    context.fill();
    context.stroke();
  }
}

/** The legend stands in the page, not in the canvas, so that it can be read aloud and never covers a curve. */
export function legend(panel: Chart, colours: Look): HTMLElement[] {
  return panel.lines.map(({ label, colour, dashed }) => {
    const item = document.createElement("span");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 28 8");
    const stroke = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const settings = { x1: "0", x2: "28", y1: "4", y2: "4", "stroke-width": "2.5", stroke: COLOURS[colour][colours.dark ? 1 : 0], "stroke-dasharray": (dashed ? [4, 4] : DASHES[colour]).join(" ") };
    for (const [name, value] of Object.entries(settings)) stroke.setAttribute(name, value);
    svg.append(stroke);
    item.append(svg, label);
    return item;
  });
}
