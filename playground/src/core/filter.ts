/** Kim and Suzuki's self-consistency filter (Sec. 3.3): a level of the own chain is zeroed while the level below it is uninformative,
 * that is while max |u_j + 1| < eps0 over the strings for some j of it. Level 1 stands on inputs and always passes. */
import { type Model, Work } from "./model";

export function released(model: Model, strings: Float64Array, count: number, used: number, threshold: number): Float64Array {
  const { layout } = model;
  const work = new Work(layout, count);
  const tokens = new Float64Array(layout.positions * count);
  tokens.set(strings.subarray(0, layout.inputs * count));
  const passes = new Float64Array(layout.depth).fill(1);
  for (let level = 1; level <= layout.depth; level++) {
    const first = layout.ends[level - 1] - layout.inputs;
    const last = layout.ends[level] - layout.inputs;
    if (level > 1) {
      for (let place = layout.ends[level - 2]; place < layout.ends[level - 1]; place++) {
        let distance = 0;
        for (let b = 0; b < used; b++) distance = Math.max(distance, Math.abs(tokens[place * count + b] + 1));
        if (distance < threshold) passes[level - 1] = 0;
      }
    }
    model.read(tokens, work, first, last);
    for (let i = first * count; i < last * count; i++) tokens[layout.inputs * count + i] = passes[level - 1] * work.means[i];
  }
  return passes;
}
