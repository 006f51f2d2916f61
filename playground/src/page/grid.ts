/** Tables of colours: attention, levels by update, Cayley tables. */
import type { Grid } from "../exhibits/types";
import { COLOURS, heat, line, type Look, opened } from "./canvas";

export function grid(canvas: HTMLCanvasElement, panel: Grid, colours: Look): void {
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
      const value = panel.values[row * panel.columns + column];
      const share = (value - panel.low) / (panel.high - panel.low);
      if (Number.isNaN(value)) context.fillStyle = colours.empty;
      else context.fillStyle = heat(share);
      const gap = wide > 5 ? 0.6 : 0;
      context.fillRect(left + column * wide, 2 + row * tall, wide - gap, tall - gap);
      if (panel.numbers && !Number.isNaN(value)) {
        context.fillStyle = share > 0.55 ? "#111" : "#fff";
        context.textAlign = "center";
        context.fillText(value === 0 || value === 1 ? String(value) : value.toFixed(2).replace(/^0/, ""), left + (column + 0.5) * wide, 2 + (row + 0.5) * tall);
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
  panel.columnLabels?.forEach((label, column, labels) => {
    const short = labels.filter(Boolean).length > 3;
    if (short && column % Math.ceil(20 / wide) !== 0) return;
    context.textAlign = short ? "center" : "left";
    context.fillText(label, Math.min(left + (column + (short ? 0.5 : 0)) * wide, width - (short ? 8 : 50)), 12 + rows * tall);
  });
}
