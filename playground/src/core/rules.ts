/** Rules turn a gradient into an update, as the library's do. */
export interface Rule {
  kind: "gd" | "sign" | "adamw";
  rate: number;
  decay?: number; // of adamw
  rounded?: boolean; // then every weight to its nearest integer, floor(w + 1/2)
}

const MOMENTUM = 0.9;
const MEMORY = 0.999;
const TOLERANCE = 1e-6; // of the sign rule, beside the largest entry

export class Updater {
  private readonly first: Float64Array;
  private readonly second: Float64Array;
  private count = 0;

  constructor(readonly rule: Rule, size: number) {
    this.first = new Float64Array(size);
    this.second = new Float64Array(size);
  }

  apply(weights: Float64Array, gradient: Float64Array): void {
    const { kind, rate, decay = 0, rounded = false } = this.rule;
    this.count += 1;
    const bias = 1 - MOMENTUM ** this.count;
    const spread = 1 - MEMORY ** this.count;
    let largest = 0;
    if (kind === "sign") for (const g of gradient) largest = Math.max(largest, Math.abs(g));
    for (let i = 0; i < weights.length; i++) {
      const g = gradient[i];
      let move = g;
      if (kind === "sign") move = Math.abs(g) <= TOLERANCE * largest ? 0 : Math.sign(g);
      else if (kind === "adamw") {
        this.first[i] = MOMENTUM * this.first[i] + (1 - MOMENTUM) * g;
        this.second[i] = MEMORY * this.second[i] + (1 - MEMORY) * g * g;
        move = this.first[i] / bias / (Math.sqrt(this.second[i] / spread) + 1e-8) + decay * weights[i];
      }
      const moved = weights[i] - rate * move;
      weights[i] = rounded ? Math.floor(moved + 0.5) : moved;
    }
  }
}
