/** The order in which thoughts are taken away from the gated transformer. */
import type { Layout } from "./tasks";

export type Curriculum = "log-icot" | "icot" | "teacher-forcing" | "direct";

/** One stage: the thoughts whose loss counts, how many thoughts are computed, how many are padded. */
export interface Lesson {
  where: Float64Array;
  computed: number;
  removed: number;
}

/** The first `removed` thoughts are padded; the readout is the layer of the first that is left, and what lies above it is the
 * truth that was shown, without error. */
function without(layout: Layout, removed: number): Lesson {
  const depth = layout.levels[removed];
  const computed = layout.ends[depth] - layout.inputs;
  const where = Float64Array.from(layout.levels, (_, thought) => (thought >= removed && thought < computed ? 1 : 0));
  return { where, computed, removed };
}

export function lessons(layout: Layout, curriculum: Curriculum): Lesson[] {
  const { thoughts, inputs, ends } = layout;
  const whole = { computed: thoughts, removed: 0 };
  switch (curriculum) {
    case "log-icot":
      return ends.slice(0, -1).map((end) => without(layout, end - inputs));
    case "icot":
      return layout.levels.map((_, removed) => without(layout, removed));
    case "teacher-forcing":
      return [{ where: new Float64Array(thoughts).fill(1), ...whole }];
    case "direct":
      return [{ where: Float64Array.from(layout.levels, (_, i) => (i === thoughts - 1 ? 1 : 0)), computed: thoughts, removed: thoughts - 1 }];
  }
}

/** So many steps over so many stages, as evenly as whole steps allow. */
export function shares(steps: number, stages: number): number[] {
  return Array.from({ length: stages }, (_, i) => Math.floor(((i + 1) * steps) / stages) - Math.floor((i * steps) / stages));
}
