/** Canvases and colours. They are Okabe and Ito's and cividis: both are told apart by colour-blind eyes. */
import type { Colour } from "../exhibits/types";

export interface Look {
  ink: string;
  quiet: string;
  paper: string;
  empty: string;
  dark: boolean;
}

export const COLOURS: Record<Colour, [light: string, dark: string]> = {
  blue: ["#0072B2", "#56B4E9"],
  vermillion: ["#D55E00", "#FF8A3D"],
  green: ["#009E73", "#2FCB9F"],
  orange: ["#B37700", "#E69F00"],
  purple: ["#B0578D", "#E29BC4"],
  sky: ["#56B4E9", "#9AD4F5"],
  black: ["#222222", "#EEEEEE"],
};
export const DASHES: Record<Colour, number[]> = { blue: [], green: [9, 4], orange: [2, 3], purple: [9, 3, 2, 3], vermillion: [], sky: [4, 4], black: [5, 5] };
const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"].map((hex) =>
  [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)),
);

export function look(): Look {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return { ink: read("--ink"), quiet: read("--quiet"), paper: read("--paper"), empty: read("--empty"), dark: read("--dark") === "1" };
}

export function heat(share: number): string {
  const place = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const mixed = CIVIDIS[low].map((from, i) => Math.round(from + (CIVIDIS[low + 1][i] - from) * (place - low)));
  return `rgb(${mixed.join()})`;
}

/** Sizes the canvas to its place and gives a context in CSS pixels. */
export function opened(canvas: HTMLCanvasElement, height: number): [CanvasRenderingContext2D, number] {
  const width = canvas.clientWidth || 300;
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  if (!context) throw new Error("a panel is drawn in two dimensions: this browser has none");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  return [context, width];
}

export function line(context: CanvasRenderingContext2D, x: number[], y: number[]): void {
  context.beginPath();
  x.forEach((at, i) => context.lineTo(at, y[i]));
  context.stroke();
}
