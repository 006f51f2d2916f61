/** Panels on canvases. Colours are Okabe and Ito's and cividis: both are told apart by colour-blind eyes. */
import type { Axis, Chart, Colour, Grid, Panel } from "../exhibits/types";

export interface Look {
  ink: string;
  quiet: string;
  paper: string;
  empty: string;
  dark: boolean;
}

const COLOURS: Record<Colour, [light: string, dark: string]> = {
  blue: ["#0072B2", "#56B4E9"],
  vermillion: ["#D55E00", "#FF8A3D"],
  green: ["#009E73", "#2FCB9F"],
  orange: ["#B37700", "#E69F00"],
  purple: ["#B0578D", "#E29BC4"],
  sky: ["#56B4E9", "#9AD4F5"],
  black: ["#222222", "#EEEEEE"],
};
const DASHES: Record<Colour, number[]> = { blue: [], green: [9, 4], orange: [2, 3], purple: [9, 3, 2, 3], vermillion: [], sky: [4, 4], black: [5, 5] };
const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"].map((hex) =>
  [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)),
);

export function look(): Look {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return { ink: read("--ink"), quiet: read("--quiet"), paper: read("--paper"), empty: read("--empty"), dark: read("--dark") === "1" };
}

function heat(share: number): string {
  const place = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const mixed = CIVIDIS[low]!.map((from, i) => Math.round(from + (CIVIDIS[low + 1]![i]! - from) * (place - low)));
  return `rgb(${mixed.join()})`;
}

/** Sizes the canvas to its place and gives a context in CSS pixels. */
function opened(canvas: HTMLCanvasElement, height: number): [CanvasRenderingContext2D, number] {
  const width = canvas.clientWidth || 300;
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  return [context, width];
}

export function draw(canvas: HTMLCanvasElement, panel: Panel, colours: Look): void {
  if (panel.kind === "chart") chart(canvas, panel, colours);
  else grid(canvas, panel, colours);
}

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
  const step = [1, 2, 5, 10].map((m) => m * unit).find((each) => each >= rough)!;
  const found: number[] = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + 1e-9 * step; tick += step) found.push(tick);
  return found;
}

function shown(value: number): string {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3) return value.toExponential(0).replace("e+", "e");
  return String(Number(value.toPrecision(6)));
}

function chart(canvas: HTMLCanvasElement, panel: Chart, colours: Look): void {
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
      each.low.forEach((value, i) => context.lineTo(x[i]!, up(value)));
      for (let i = x.length - 1; i >= 0; i--) context.lineTo(x[i]!, up(each.high[i]!));
      context.fill();
      context.globalAlpha = 1;
    }
    context.lineWidth = 2;
    context.setLineDash(each.dashed ? [4, 4] : DASHES[each.colour]);
    line(context, x, each.y.map(up));
    context.setLineDash([]);
    if (x.length <= 12) x.forEach((at, i) => context.fillRect(at - 2.5, up(each.y[i]!) - 2.5, 5, 5));
  }
  for (const { x, y } of panel.diamonds ?? []) {
    context.fillStyle = COLOURS.vermillion[colours.dark ? 1 : 0];
    context.strokeStyle = colours.paper;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [dx, dy] of [[0, -7], [7, 0], [0, 7], [-7, 0]]) context.lineTo(across(x) + dx!, up(y) + dy!);
    context.closePath();
    context.fill();
    context.stroke();
  }
}

function line(context: CanvasRenderingContext2D, x: number[], y: number[]): void {
  context.beginPath();
  x.forEach((at, i) => context.lineTo(at, y[i]!));
  context.stroke();
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

function grid(canvas: HTMLCanvasElement, panel: Grid, colours: Look): void {
  const rows = Math.round(panel.values.length / panel.columns);
  const named = (panel.rowLabels ?? []).some((label) => label);
  const left = named ? 62 : 4;
  const titled = (panel.columnLabels ?? []).some((label) => label);
  const room = (canvas.clientWidth || 300) - left - 4;
  const wide = room / panel.columns;
  const tall = Math.min(Math.max(Math.min(wide, panel.numbers ? 30 : 22), rows > 40 ? 1.5 : panel.numbers ? 22 : 11), 34);
  const [context, width] = opened(canvas, Math.ceil(rows * tall) + (titled ? 22 : 6));
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < panel.columns; column++) {
      const value = panel.values[row * panel.columns + column]!;
      const share = (value - panel.low) / (panel.high - panel.low);
      if (Number.isNaN(value)) context.fillStyle = colours.empty;
      else context.fillStyle = panel.cyclic ? `hsl(${(360 * share * 0.94).toFixed(0)} 55% ${colours.dark ? 45 + 20 * (value % 2) : 50 + 18 * (value % 2)}%)` : heat(share);
      const gap = wide > 5 ? 0.6 : 0;
      context.fillRect(left + column * wide, 2 + row * tall, wide - gap, tall - gap);
      if (panel.numbers && !Number.isNaN(value)) {
        context.fillStyle = share > 0.55 ? "#111" : "#fff";
        context.textAlign = "center";
        context.fillText(value === 1 ? "1" : value.toFixed(2).replace(/^0/, ""), left + (column + 0.5) * wide, 2 + (row + 0.5) * tall);
      }
    }
    if (panel.dim?.[row]) {
      context.strokeStyle = colours.paper;
      context.lineWidth = 1.2;
      for (let x = left; x < left + room; x += 9) line(context, [x, x + 6], [2 + (row + 1) * tall - 1, 3 + row * tall]);
    }
  }
  context.lineWidth = 1.4;
  for (const [row, column] of panel.marks ?? []) {
    context.strokeStyle = COLOURS.vermillion[1];
    context.beginPath();
    context.ellipse(left + (column + 0.5) * wide, 2 + (row + 0.5) * tall, Math.max(wide * 0.42, 2), Math.max(tall * 0.42, 2), 0, 0, 7);
    context.stroke();
  }
  context.strokeStyle = colours.ink;
  context.lineWidth = 1;
  for (const end of panel.ends ?? []) line(context, [left + end * wide, left + end * wide], [0, 4 + rows * tall]);
  if (panel.dot) {
    context.fillStyle = COLOURS.vermillion[0];
    context.strokeStyle = "#fff";
    context.lineWidth = 2;
    context.beginPath();
    context.arc(left + panel.dot[1] * wide, 2 + panel.dot[0] * tall, 7, 0, 7);
    context.fill();
    context.stroke();
  }
  context.fillStyle = colours.quiet;
  context.textAlign = "right";
  panel.rowLabels?.forEach((label, row) => context.fillText(label, left - 6, 2 + (row + 0.5) * tall));
  panel.columnLabels?.forEach((label, column) => {
    const short = panel.columnLabels!.filter(Boolean).length > 3;
    context.textAlign = short ? "center" : "left";
    context.fillText(label, Math.min(left + (column + (short ? 0.5 : 0)) * wide, width - 20), 12 + rows * tall);
  });
}
