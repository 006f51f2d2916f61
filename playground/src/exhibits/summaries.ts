/** From members to curves: the middle seed, and the band from the lowest to the highest. */
import type { Arm, Line, View } from "./types";

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function curve(view: View, arm: Arm, metric: string, floor = -Infinity, label = arm.label): Line {
  const { steps, seeds } = view.series(arm.slug, metric);
  const column = (i: number): number[] => seeds.map((row) => Math.max(row[i], floor));
  const line: Line = { label, colour: arm.colour, x: steps, y: steps.map((_, i) => median(column(i))) };
  if (seeds.length > 1) {
    line.low = steps.map((_, i) => Math.min(...column(i)));
    line.high = steps.map((_, i) => Math.max(...column(i)));
  }
  return line;
}

export const percent = (share: number): string => `${Math.round(1000 * share) / 10} %`;
export const digits = (value: number): string => (value === 0 ? "0" : Math.abs(value) < 1e-3 ? value.toExponential(1) : value.toPrecision(4));
