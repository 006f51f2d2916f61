/** Sparse Boolean functions, gate by gate along a tree or a serial chain. Positions: inputs first, then thoughts. */
import type { Random } from "./random";

export type Gate = "parity" | "and" | "or";
export type Decomposition = "tree" | "serial";

/** A chain's shape: ends[l] is the number of positions up to and including level l. */
export interface Layout {
  inputs: number;
  levels: number[]; // of each thought, from 1
  ends: number[];
  thoughts: number;
  positions: number;
  depth: number;
}

export interface Task {
  bits: number;
  sparsity: number;
  gate: Gate;
  decomposition: Decomposition;
  layout: Layout;
}

function layoutOf(inputs: number, levels: number[]): Layout {
  const depth = levels[levels.length - 1];
  const ends = Array.from({ length: depth + 1 }, (_, top) => inputs + levels.filter((level) => level <= top).length);
  return { inputs, levels, ends, thoughts: levels.length, positions: inputs + levels.length, depth };
}

export function boolean(bits: number, sparsity: number, gate: Gate = "parity", decomposition: Decomposition = "tree"): Task {
  const levels: number[] = [];
  if (decomposition === "serial") for (let i = 1; i < sparsity; i++) levels.push(i);
  else for (let level = 1, size = sparsity / 2; size >= 1; level++, size /= 2) for (let i = 0; i < size; i++) levels.push(level);
  return { bits, sparsity, gate, decomposition, layout: layoutOf(bits, levels) };
}

/** The two positions that each thought is computed from. */
export function children(task: Task, secret: number[]): [number, number][] {
  const { bits, sparsity } = task;
  if (task.decomposition === "serial") {
    return secret.slice(1).map((leaf, i) => [i === 0 ? secret[0] : bits + i - 1, leaf]);
  }
  const nodes = [...secret, ...Array.from({ length: sparsity - 1 }, (_, i) => bits + i)];
  return Array.from({ length: sparsity - 1 }, (_, i) => [nodes[2 * i], nodes[2 * i + 1]]); // node k+i joins 2i and 2i+1
}

/** On signs; true is +1. */
export function applied(gate: Gate, a: number, b: number): number {
  if (gate === "parity") return a * b;
  return gate === "and" ? (a * b + a + b - 1) / 2 : (-a * b + a + b + 1) / 2;
}

/** Uniform signs in the input rows of tokens[position * count + chain]. */
export function drawInputs(task: Task, random: Random, tokens: Float64Array, count: number): void {
  const words = new Uint32Array(count);
  for (let bit = 0; bit < task.bits; bit++) {
    if (bit % 32 === 0) for (let chain = 0; chain < count; chain++) words[chain] = random.word();
    for (let chain = 0; chain < count; chain++) tokens[bit * count + chain] = 1 - 2 * ((words[chain] >>> bit % 32) & 1);
  }
}

/** Each thought from its children as they stand in `from`, written to `into` (the true chain where both are one). */
export function relabel(task: Task, kids: [number, number][], from: Float64Array, into: Float64Array, count: number): void {
  const { inputs, thoughts } = task.layout;
  for (let thought = 0; thought < thoughts; thought++) {
    const [left, right] = kids[thought];
    for (let chain = 0; chain < count; chain++) {
      const value = applied(task.gate, from[left * count + chain], from[right * count + chain]);
      into[(inputs + thought) * count + chain] = value;
    }
  }
}

/** Fresh true chains: tokens[position * count + chain]. */
export function sample(task: Task, kids: [number, number][], random: Random, count: number): Float64Array {
  const tokens = new Float64Array(task.layout.positions * count);
  drawInputs(task, random, tokens, count);
  relabel(task, kids, tokens, tokens, count);
  return tokens;
}
