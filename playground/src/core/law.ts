/** The exact start-of-stage loss of Log-ICoT with the cosine link (the library's theory.tree_law, LI-21). */

type Complex = [number, number];
const times = (a: Complex, b: Complex): Complex => [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
const plus = (a: Complex, b: Complex): Complex => [a[0] + b[0], a[1] + b[1]];
const scaled = (a: Complex, c: number): Complex => [a[0] * c, a[1] * c];
const turned = (angle: number): Complex => [Math.cos(angle), Math.sin(angle)];

/** n_t = n + k (1 - 2^-(t-1)): positions that stage t attends to. */
export function keysOfStage(bits: number, sparsity: number, stage: number): number {
  return bits + sparsity - Math.floor(sparsity / 2 ** (stage - 1));
}

/** (A(+1), A(-1)): A(v) = E[exp(ia * sum of all nodes); root = v]. */
function subtree(angle: number, height: number): [Complex, Complex] {
  if (height === 0) return [scaled(turned(angle), 0.5), scaled(turned(-angle), 0.5)];
  const [up, down] = subtree(angle, height - 1);
  const same = plus(times(up, up), times(down, down));
  const apart = scaled(times(up, down), 2);
  return [times(turned(angle), same), times(turned(-angle), apart)];
}

/** E[exp(i angle S) b_m^labelled] over uniform inputs; its real part is all that the loss needs. */
function expectation(bits: number, sparsity: number, stage: number, angle: number, labelled: boolean): number {
  const [up, down] = subtree(angle, stage - 1);
  const same = plus(times(up, up), times(down, down));
  const apart = scaled(times(up, down), 2);
  let found = plus(same, scaled(apart, labelled ? -1 : 1));
  for (let tree = 1; tree < sparsity / 2 ** stage; tree++) found = times(found, plus(same, apart));
  return found[0] * Math.cos(angle) ** (bits - sparsity);
}

/** Summed over the stage's level: (k / 2^t) (E phi^2 + 1 - 2 E[phi b]) / 2. */
export function startLoss(bits: number, sparsity: number, stage: number): number {
  const angle = Math.PI / keysOfStage(bits, sparsity, stage);
  const square = (1 + expectation(bits, sparsity, stage, 2 * angle, false)) / 2;
  const product = -expectation(bits, sparsity, stage, angle, true);
  return ((sparsity / 2 ** stage) * (square + 1 - 2 * product)) / 2;
}
