/** Attention by position, then a link: the one-layer transformer of kim-suzuki and rl-sft, and, on its own soft thoughts
 * under the mask "lower-levels", the gated transformer of log-icot reduced to its live weights.
 *
 *     z_m = sum_j softmax_j(w_m) t_j over the mask,   mean_m = phi(z_m)
 *
 * Arrays are [position or thought][chain], flat. */
import { follow, type Link } from "./links";
import type { Layout } from "./tasks";

export type Mask = "causal" | "lower-levels" | "previous-level" | "inputs-and-previous";

/** The positions that each thought may read. */
export function sourcesOf(layout: Layout, mask: Mask): Int32Array[] {
  const { inputs, ends, levels } = layout;
  const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
  return levels.map((level, thought) => {
    const place = inputs + thought;
    if (mask === "causal") return Int32Array.from(range(0, place));
    if (mask === "lower-levels") return Int32Array.from(range(0, ends[level - 1]));
    if (mask === "previous-level") return Int32Array.from(range(level > 1 ? ends[level - 2] : 0, ends[level - 1]));
    return Int32Array.from(thought ? [...range(0, inputs), place - 1] : range(0, inputs));
  });
}

export class Model {
  readonly weights: Float64Array; // [thought * positions + source]; entries outside the mask stay 0
  readonly attention: Float64Array;
  readonly gradient: Float64Array;
  readonly sources: Int32Array[];
  private readonly pull: Float64Array;

  constructor(readonly layout: Layout, readonly link: Link, readonly mask: Mask) {
    const size = layout.thoughts * layout.positions;
    this.weights = new Float64Array(size);
    this.attention = new Float64Array(size);
    this.gradient = new Float64Array(size);
    this.pull = new Float64Array(size);
    this.sources = sourcesOf(layout, mask);
    this.attend();
  }

  /** Softmax of the weights over the mask. */
  attend(): void {
    const { positions } = this.layout;
    this.sources.forEach((sources, thought) => {
      const row = thought * positions;
      let largest = -Infinity;
      for (const j of sources) largest = Math.max(largest, this.weights[row + j]);
      let total = 0;
      for (const j of sources) total += this.attention[row + j] = Math.exp(this.weights[row + j] - largest);
      for (const j of sources) this.attention[row + j] /= total;
    });
  }

  /** z, mean and slope of some thoughts over a batch whose tokens they read. */
  read(tokens: Float64Array, work: Work, first: number, last: number): void {
    const { count } = work;
    const { positions } = this.layout;
    for (let thought = first; thought < last; thought++) {
      const start = thought * count;
      mix(work.z, start, tokens, this.attention, thought * positions, this.sources[thought], count);
      follow(this.link, work.z, work.means, work.slopes, start, start + count);
    }
  }

  /** The thoughts in order, each read from those before it as `choose` makes a token of its mean; without it they are the means
   * themselves, times their gate where there are gates. */
  write(tokens: Float64Array, work: Work, choose?: (mean: number) => number, thoughts = this.layout.thoughts, gates?: Float64Array): void {
    const { count, means } = work;
    for (let thought = 0; thought < thoughts; thought++) {
      this.read(tokens, work, thought, thought + 1);
      const from = thought * count;
      const to = (this.layout.inputs + thought) * count;
      if (choose) for (let b = 0; b < count; b++) tokens[to + b] = choose(means[from + b]);
      else {
        const gate = gates ? gates[thought] : 1;
        if (gate !== 1) for (let b = from; b < from + count; b++) means[b] *= gate;
        tokens.set(means.subarray(from, from + count), to);
      }
    }
  }

  /** Forgets what was accumulated. */
  begin(): void {
    this.pull.fill(0);
  }

  /** Adds d loss / d attention for thoughts first..last, whose d loss / d mean is in work.errors. `own`: tokens are the model's own soft
   * thoughts times their gate, so errors travel back through them; else tokens are constants. */
  blame(tokens: Float64Array, work: Work, own: boolean, thoughts = this.layout.thoughts, gates?: Float64Array): void {
    const { count, errors } = work;
    const { positions, inputs } = this.layout;
    for (let thought = thoughts - 1; thought >= 0; thought--) {
      const start = thought * count;
      const gate = gates ? gates[thought] : 1;
      for (let b = 0; b < count; b++) errors[start + b] *= gate * work.slopes[start + b]; // now of z
      correlate(this.pull, thought * positions, errors, start, tokens, this.sources[thought], count);
      if (!own) continue;
      for (const j of this.sources[thought]) {
        if (j < inputs) continue;
        const share = this.attention[thought * positions + j];
        const below = (j - inputs) * count;
        for (let b = 0; b < count; b++) errors[below + b] += share * errors[start + b];
      }
    }
  }

  /** Through the softmax, into `gradient`: s_j (p_j - sum_i s_i p_i). */
  finish(): Float64Array {
    const { positions } = this.layout;
    this.gradient.fill(0);
    this.sources.forEach((sources, thought) => {
      const row = thought * positions;
      let mean = 0;
      for (const j of sources) mean += this.attention[row + j] * this.pull[row + j];
      for (const j of sources) this.gradient[row + j] = this.attention[row + j] * (this.pull[row + j] - mean);
    });
    return this.gradient;
  }
}

/** into = sum_j share_j tokens_j, four sources at a time, so that the row is read and written a quarter as often. */
function mix(into: Float64Array, at: number, tokens: Float64Array, shares: Float64Array, row: number, sources: Int32Array, count: number): void {
  into.fill(0, at, at + count);
  const even = sources.length & ~3;
  for (let i = 0; i < even; i += 4) {
    const [a, b, c, d] = [sources[i], sources[i + 1], sources[i + 2], sources[i + 3]];
    const [sa, sb, sc, sd] = [shares[row + a], shares[row + b], shares[row + c], shares[row + d]];
    const [fa, fb, fc, fd] = [a * count, b * count, c * count, d * count];
    for (let k = 0; k < count; k++) into[at + k] += sa * tokens[fa + k] + sb * tokens[fb + k] + sc * tokens[fc + k] + sd * tokens[fd + k];
  }
  for (let i = even; i < sources.length; i++) {
    const share = shares[row + sources[i]];
    const from = sources[i] * count;
    for (let k = 0; k < count; k++) into[at + k] += share * tokens[from + k];
  }
}

/** into_j += sum over the batch of errors times tokens_j. */
function correlate(into: Float64Array, row: number, errors: Float64Array, at: number, tokens: Float64Array, sources: Int32Array, count: number): void {
  const even = sources.length & ~3;
  for (let i = 0; i < even; i += 4) {
    const [a, b, c, d] = [sources[i], sources[i + 1], sources[i + 2], sources[i + 3]];
    const [fa, fb, fc, fd] = [a * count, b * count, c * count, d * count];
    let [pa, pb, pc, pd] = [0, 0, 0, 0];
    for (let k = 0; k < count; k++) {
      const error = errors[at + k];
      pa += error * tokens[fa + k];
      pb += error * tokens[fb + k];
      pc += error * tokens[fc + k];
      pd += error * tokens[fd + k];
    }
    into[row + a] += pa;
    into[row + b] += pb;
    into[row + c] += pc;
    into[row + d] += pd;
  }
  for (let i = even; i < sources.length; i++) {
    const from = sources[i] * count;
    let sum = 0;
    for (let k = 0; k < count; k++) sum += errors[at + k] * tokens[from + k];
    into[row + sources[i]] += sum;
  }
}

/** Room for a batch of that size. Members take turns, so they can share it. */
export function roomFor(layout: Layout, count: number): Work {
  const key = `${layout.thoughts} ${count}`;
  if (shared?.key !== key) shared = { key, work: new Work(layout, count) };
  return shared.work;
}

let shared: { key: string; work: Work } | null = null;

/** Room for a batch. */
export class Work {
  readonly z: Float64Array;
  readonly means: Float64Array;
  readonly slopes: Float64Array;
  readonly errors: Float64Array;

  constructor(layout: Layout, readonly count: number) {
    const size = layout.thoughts * count;
    this.z = new Float64Array(size);
    this.means = new Float64Array(size);
    this.slopes = new Float64Array(size);
    this.errors = new Float64Array(size);
  }
}
