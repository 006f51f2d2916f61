/** What the worker measured, as the panels ask for it. */
import type { Picture, View } from "../exhibits/types";
import type { Frame } from "../worker";

interface Row {
  steps: number[];
  values: number[];
}

export class History implements View {
  private readonly rows = new Map<string, Map<number, Row>>(); // "arm metric" -> seed
  private readonly pictures = new Map<string, Picture>();

  constructor(readonly seeds: number) {}

  add(frame: Frame): void {
    for (const { arm, seed, points } of frame.points) {
      for (const { step, metrics } of points) {
        for (const [metric, value] of Object.entries(metrics)) {
          const key = `${arm} ${metric}`;
          const found = this.rows.get(key) ?? new Map<number, Row>();
          const row = found.get(seed) ?? { steps: [], values: [] };
          this.rows.set(key, found.set(seed, row));
          row.steps.push(step);
          row.values.push(value);
        }
      }
    }
    for (const [arm, picture] of Object.entries(frame.pictures)) this.pictures.set(arm, picture);
  }

  series(arm: string, metric: string): { steps: number[]; seeds: number[][] } {
    const found = [...(this.rows.get(`${arm} ${metric}`)?.values() ?? [])];
    const shortest = Math.min(...found.map(({ steps }) => steps.length), Infinity);
    if (!Number.isFinite(shortest)) return { steps: [], seeds: [] };
    return { steps: found[0].steps.slice(0, shortest), seeds: found.map(({ values }) => values.slice(0, shortest)) };
  }

  last(arm: string, metric: string): number[] {
    return [...(this.rows.get(`${arm} ${metric}`)?.values() ?? [])].map(({ values }) => values[values.length - 1]);
  }

  picture(arm: string): Picture | undefined {
    return this.pictures.get(arm);
  }
}
