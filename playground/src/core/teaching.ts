/** One gradient of each way of teaching, on chains that are given. The caller applies its rule and calls `attend`. */
import { outcome, loss, unlearned } from "./signals";
import { type Model, Work } from "./model";
import { relabel, type Task } from "./tasks";
import type { Lesson } from "./curricula";

export type Method = "process-reward" | "outcome-reward" | "sft" | "teacher-forcing";

/** The gated transformer: shown thoughts are never read (LI-20), so it learns from its own soft thoughts. `own` is room for them.
 * Returns the stage's loss; with `learn` the gradient is in model.gradient. */
export function internalise(model: Model, lesson: Lesson, truth: Float64Array, own: Float64Array, work: Work, learn = true): number {
  const inputs = model.layout.inputs * work.count;
  own.set(truth.subarray(0, inputs));
  model.write(own, work, undefined, lesson.computed);
  const found = loss("squared", work, truth, model.layout, lesson.where);
  if (learn) {
    model.begin();
    model.blame(own, work, true, lesson.computed);
    model.finish();
  }
  return found;
}

/** The model's own thoughts, drawn or the likeliest: tokens[inputs..]. */
export function speak(model: Model, tokens: Float64Array, work: Work, uniform?: () => number): void {
  model.write(tokens, work, uniform ? (mean) => (mean > 2 * uniform() - 1 ? 1 : -1) : (mean) => (mean >= 0 ? 1 : -1));
}

/** rl-sft: `tokens` is the prefix that is read (own thoughts, or the truth under teacher forcing); they are constants. */
export function reward(
  model: Model, task: Task, kids: [number, number][], method: Method, truth: Float64Array, tokens: Float64Array, work: Work,
): number {
  const { layout } = model;
  model.read(tokens, work, 0, layout.thoughts);
  let found: number;
  if (method === "outcome-reward") {
    found = outcome(work, tokens, truth, layout, true);
  } else {
    const equal = new Float64Array(layout.thoughts).fill(1 / layout.thoughts);
    if (method === "process-reward") {
      const labels = new Float64Array(tokens.length);
      relabel(task, kids, tokens, labels, work.count); // each gate on the own prefix
      found = loss("reward", work, labels, layout, equal);
    } else {
      found = loss("hinge", work, truth, layout, unlearned(work, truth, layout, equal));
    }
  }
  model.begin();
  model.blame(tokens, work, false);
  model.finish();
  return found;
}
