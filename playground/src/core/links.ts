/** What follows attention: a value and its slope. */
export type Link = "cosine" | "policy-parity" | "policy-and" | "policy-or";

const TIED = 1e-12; // zero up to rounding: no token and no slope is decided by it

/** value[i] = phi(z[i]), slope[i] = phi'(z[i]) over a range. */
export function follow(link: Link, z: Float64Array, value: Float64Array, slope: Float64Array, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const t = z[i];
    if (link === "cosine") {
      value[i] = -Math.cos(Math.PI * t);
      slope[i] = Math.PI * Math.sin(Math.PI * t);
    } else if (link === "policy-parity") {
      value[i] = 2 * t * t - 1;
      slope[i] = 4 * t;
    } else {
      const side = link === "policy-and" ? 1 : -1; // AND: 2 max(z, 0) - 1; OR: 1 - 2 max(-z, 0)
      const up = side * t > TIED;
      const mean = side * (up ? 2 * side * t - 1 : -1);
      value[i] = Math.abs(mean) < TIED ? 0 : mean;
      slope[i] = up ? 2 : 0;
    }
  }
}
