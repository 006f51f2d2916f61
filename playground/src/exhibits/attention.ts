/** Attention as a table, shared by the exhibits that attend by position. */
import type { Task } from "../core/tasks";
import { percent } from "./summaries";
import type { Arm, Grid, Picture } from "./types";

/** Attention of every layer in chain coordinates: a row per thought, grouped by level. */
export function attentionGrid(task: Task, arm: Arm, picture: Picture, title: string, removed: number): Grid {
  const { layout } = task;
  const kids = picture.kids as number[];
  const source = picture.attention as Float64Array;
  const values = Float64Array.from(source, (share) => (share === 0 ? NaN : share));
  const marks = kids.map((place, i): [number, number] => [i >> 1, place]);
  const mass = marks.reduce((sum, [row, column]) => sum + source[row * layout.positions + column], 0) / layout.thoughts;
  return {
    kind: "grid", title, columns: layout.positions, values, low: 0, high: 0.5, marks, ends: layout.ends.slice(0, -1),
    rowLabels: layout.levels.map((level, i) => (i === 0 || layout.levels[i - 1] !== level ? `level ${level}` : "")),
    columnLabels: Array.from({ length: layout.positions }, (_, i) => (i === 0 ? "inputs" : i === layout.inputs ? "thoughts" : "")),
    dim: layout.levels.map((_, i) => i < removed),
    says: `${arm.label}: attention of ${layout.thoughts} thoughts on ${layout.positions} positions; ${percent(mass)} of it on the right two.`,
  };
}
