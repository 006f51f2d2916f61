/** What is minimised: each fills work.errors with d loss / d mean and returns the loss, a mean over `total` chains of a sum over
 * thoughts weighted by `where`. Labels and tokens are [thought][chain] at the given offset (in rows). */
import type { Work } from "./model";
import type { Layout } from "./tasks";

export type Signal = "squared" | "hinge" | "reward";

export function loss(signal: Signal, work: Work, labels: Float64Array, layout: Layout, where: Float64Array, total = work.count): number {
  const { count, means, errors } = work;
  let sum = 0;
  for (let thought = 0; thought < layout.thoughts; thought++) {
    const weight = where[thought];
    const own = thought * count;
    if (weight === 0) {
      errors.fill(0, own, own + count);
      continue;
    }
    const label = (layout.inputs + thought) * count;
    for (let b = 0; b < count; b++) {
      const y = labels[label + b];
      const q = means[own + b];
      if (signal === "squared") {
        sum += (weight * (q - y) * (q - y)) / 2;
        errors[own + b] = (weight * (q - y)) / total;
      } else if (signal === "hinge") {
        const gap = 1 - y * q;
        sum += weight * Math.max(gap, 0);
        errors[own + b] = gap > 0 ? (-weight * y) / total : 0;
      } else {
        sum -= weight * y * q; // the mean reward given the prefix: the token is summed out
        errors[own + b] = (-weight * y) / total;
      }
    }
  }
  return sum / total;
}

/** REINFORCE where the answer alone is rewarded and every token is credited with it; `baseline`: less the batch's mean. */
export function outcome(work: Work, tokens: Float64Array, labels: Float64Array, layout: Layout, baseline: boolean): number {
  const { count, means, errors } = work;
  const answer = (layout.positions - 1) * count;
  let mean = 0;
  for (let b = 0; b < count; b++) mean += tokens[answer + b] * labels[answer + b];
  mean /= count; // a sum of whole numbers: exact where all are right
  let sum = 0;
  for (let thought = 0; thought < layout.thoughts; thought++) {
    const own = thought * count;
    const said = (layout.inputs + thought) * count;
    for (let b = 0; b < count; b++) {
      const gain = tokens[answer + b] * labels[answer + b] - (baseline ? mean : 0);
      const token = tokens[said + b];
      sum -= gain * Math.log((1 + token * means[own + b]) / 2);
      errors[own + b] = (-gain * token) / (1 + token * means[own + b]) / count;
    }
  }
  return sum / count;
}

/** The weights on levels that still err: a level whose tokens are all right in the batch is frozen (rl-sft, proof of Thm 3.3). */
export function unlearned(work: Work, labels: Float64Array, layout: Layout, where: Float64Array): Float64Array {
  const { count, means } = work;
  const erring = new Set<number>();
  layout.levels.forEach((level, thought) => {
    if (erring.has(level)) return;
    const label = (layout.inputs + thought) * count;
    for (let b = 0; b < count; b++) {
      const said = means[thought * count + b] >= 0 ? 1 : -1;
      if (said !== labels[label + b]) {
        erring.add(level);
        return;
      }
    }
  });
  return where.map((weight, thought) => (erring.has(layout.levels[thought]) ? weight : 0));
}
