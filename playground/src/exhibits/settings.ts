/** Sliders whose ranges come from the domains of claims. */
import claims from "../../fixtures/claims.json";
import type { Setting, State, Value } from "./types";

interface Range {
  kind: string;
  low?: number;
  high?: number;
  step?: number;
  log?: boolean;
}

export interface Known {
  paper: string;
  label: string;
  kind: string;
  says: string;
  domain: Record<string, Range | undefined>;
  because: string;
}

export const CLAIMS = claims as unknown as Record<string, Known>;

/** The range of a claim's parameter; `beyond` is how much further the slider goes, to see the claim's edge. */
export function slider(name: string, label: string, claim: string, value: number, beyond?: [number, number], parameter = name): Setting {
  const range = CLAIMS[claim].domain[parameter];
  if (range?.low === undefined || range.high === undefined) throw new Error(`${claim} has no range for ${parameter}`);
  const [low, high] = beyond ?? [range.low, range.high];
  const kind = range.kind as Setting["kind"];
  const step = kind === "real" ? 0 : (range.step ?? 1);
  return {
    name, label, kind, low, high, step, log: range.log ?? false, choices: [], value,
    domain: { claim, low: range.low, high: range.high },
  };
}

/** A whole number that no claim has a range for. */
export function count(name: string, label: string, value: number, low: number, high: number, step = 1): Setting {
  return { name, label, kind: "whole", low, high, step, log: false, choices: [], value };
}

export function choice(name: string, label: string, choices: readonly string[], value = choices[0]): Setting {
  return { name, label, kind: "choice", low: 0, high: choices.length - 1, step: 1, log: false, choices, value };
}

export const SEEDS = [count("seeds", "seeds", 3, 1, 12), count("seed", "first seed", 0, 0, 9999)];

export function defaults(settings: Setting[]): State {
  return Object.fromEntries(settings.map((setting) => [setting.name, setting.value]));
}

/** The value that a text stands for, and the sentence where it cannot be taken as it is. */
export function accepted(setting: Setting, text: string): { value: Value; refusal: string | null } {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  if (setting.kind === "choice") {
    if (setting.choices.includes(text)) return { value: text, refusal: null };
    return { value: setting.value, refusal: `${setting.name} is one of ${setting.choices.join(", ")}: ${setting.name}=${shown}; ${setting.value} is used` };
  }
  const number = text.trim() === "" ? NaN : Number(text);
  const value = nearest(setting, number);
  if (value === number) return { value, refusal: null };
  const rule = setting.kind === "powers" ? "a power of two" : setting.kind === "whole" ? "a whole number" : "a number";
  const steps = setting.kind === "whole" && setting.step > 1 ? ` in steps of ${setting.step}` : "";
  return { value, refusal: `${setting.name} is ${rule} from ${setting.low} to ${setting.high}${steps}: ${setting.name}=${shown}; ${value} is used` };
}

/** The allowed number next to one; the default where it is none. */
export function nearest(setting: Setting, number: number): number {
  if (Number.isNaN(number)) return Number(setting.value);
  const inside = Math.min(Math.max(number, setting.low), setting.high);
  if (setting.kind === "powers") return 2 ** Math.round(Math.log2(inside));
  if (setting.kind === "whole") return setting.low + Math.round((inside - setting.low) / setting.step) * setting.step;
  return inside;
}

/** What lies outside the claim's ranges, in words; null inside. Parameters that are not settings here keep the claim's own values. */
export function outside(claim: string, settings: Setting[], state: State): string | null {
  for (const setting of settings) {
    const range = CLAIMS[claim].domain[setting.name];
    const value = Number(state[setting.name]);
    if (range?.low === undefined || range.high === undefined || setting.kind === "choice") continue;
    if (value < range.low || value > range.high) return `${setting.name}=${value}, which is meant to be ${range.low} to ${range.high}`;
  }
  return null;
}
