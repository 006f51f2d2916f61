/** What an exhibit is: settings, ways of teaching side by side, members that train, and panels drawn from what they measured. */

export type Value = number | string;
export type State = Record<string, Value>;

/** A slider or a choice. `domain`: the part of a slider where a claim is meant to hold, read from the ledger. */
export interface Setting {
  name: string;
  label: string;
  kind: "whole" | "powers" | "real" | "choice";
  low: number;
  high: number;
  step: number;
  log: boolean;
  choices: readonly string[];
  value: Value;
  domain?: { claim: string; low: number; high: number };
}

/** A way of teaching; its members differ in their seed alone. */
export interface Arm {
  slug: string;
  label: string;
  colour: Colour;
}

export type Colour = "blue" | "vermillion" | "green" | "orange" | "purple" | "sky" | "black";

/** Numbers measured after some update, by metric. */
export interface Point {
  step: number;
  metrics: Record<string, number>;
}

/** One training. `advance` does one update, or a part of one where an update is long. */
export interface Member {
  readonly finished: boolean;
  readonly updates: number; // so far
  advance(): void;
  measured: Point[]; // emptied by whoever takes them
  picture(): Picture;
}

/** The state of the first seed as it stands: what a panel needs and no curve holds. */
export type Picture = Record<string, number | string | boolean | number[] | Float64Array>;

export interface Line {
  label: string;
  colour: Colour;
  x: number[];
  y: number[];
  low?: number[];
  high?: number[];
  dashed?: boolean;
}

export interface Axis {
  label: string;
  log?: boolean;
  low?: number;
  high?: number;
}

export interface Chart {
  kind: "chart";
  title: string;
  x: Axis;
  y: Axis;
  lines: Line[];
  diamonds?: { x: number; y: number }[];
  stages?: number[]; // thin vertical lines
  shade?: { from: number; to: number };
  says: string; // for those who do not see it
}

/** A table of colours from `low` to `high`; NaN stays empty. */
export interface Grid {
  kind: "grid";
  title: string;
  columns: number;
  values: ArrayLike<number>;
  low: number;
  high: number;
  rowLabels?: string[];
  columnLabels?: string[];
  marks?: [number, number][]; // cells that should fill up: row, column
  ends?: number[]; // columns before which a level ends
  dim?: boolean[]; // rows whose thought is padded
  numbers?: boolean; // print the value in each cell
  dot?: [number, number]; // where one stands: row, column, as fractions of cells
  still?: boolean; // never changes under its title: drawn once
  says: string;
}

export type Panel = Chart | Grid;

/** Everything measured so far, as panels ask for it. */
export interface View {
  /** The metric of an arm over its seeds: one row per seed, cut to the shortest. */
  series(arm: string, metric: string): { steps: number[]; seeds: number[][] };
  last(arm: string, metric: string): number[]; // by seed; seeds without it are left out
  picture(arm: string): Picture | undefined;
  seeds: number;
}

export interface Exhibit {
  slug: string;
  title: string;
  look: string; // two sentences of what to look for
  settings: Setting[];
  claims: readonly string[];
  arms(state: State): Arm[];
  refuses(state: State): string | null; // a sentence: rule, value, remedy
  panels(state: State, view: View): Panel[];
  status(state: State, view: View): string;
  here(state: State, view: View): Record<string, string>; // by claim: the number at this size
  python(state: State): string;
}

export const whole = (state: State, name: string): number => Number(state[name]);
