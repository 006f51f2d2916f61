/** LEGO's theory in four numbers: attention of the query ans,l-1 by its own and other predicates and answers, on ideal features.
 * The order of the four is the library's: predicate, other predicate, answer, other answer. */
import type { Action } from "./actions";

const POWER = 4; // q of the smoothed ReLU
const BEND = 0.5; // rho

/** One neuron per (class j, value y): V(g) = large if g(y) = j else -small, V(y) = small, V(y') = -large, large + small = 2B. */
export interface Features {
  values: number; // classes, and neurons of each
  moves: Float64Array[]; // by action: [class * values + neuron]
  states: Float64Array[]; // by value
  ceiling: number; // B
  others: number; // classes that are no values: their logits are 0
}

export function ideal(action: Action, variables: number, clipping: number): Features {
  const moves = action.table.length;
  const states = action.table[0].length;
  const size = variables + moves + states + 1;
  const ratio = (1 + (moves * (states - 1)) / states) / (states - 1 + moves / states);
  const ceiling = clipping * Math.log(size);
  const large = (2 * ceiling * ratio) / (1 + ratio);
  const small = (2 * ceiling) / (1 + ratio);
  const grid = (value: (j: number, y: number) => number): Float64Array =>
    Float64Array.from({ length: states * states }, (_, i) => value(Math.floor(i / states), i % states));
  return {
    values: states,
    moves: action.table.map((row) => grid((j, y) => (row[y] === j ? large : -small))),
    states: Array.from({ length: states }, (_, own) => grid((_, y) => (y === own ? small : -large))),
    ceiling,
    others: size - states,
  };
}

export type Scores = Float64Array; // the four numbers
export interface Masses {
  share: number[]; // on one clause of each kind
  counts: number[];
  error: number; // attention off the two target clauses
}

/** For predicting answer `step` (from 1) of a sentence with `length` predicates. */
export function masses(scores: Scores, length: number, step: number): Masses {
  const counts = [1, length - 1, 1, step - 1];
  const largest = Math.max(...scores);
  const weight = Array.from(scores, (score) => Math.exp(score - largest));
  const total = weight.reduce((sum, each, i) => sum + each * counts[i], 0);
  const share = weight.map((each) => each / total);
  return { share, counts, error: share[1] * counts[1] + share[3] * counts[3] };
}

function activation(x: number): number {
  if (x > BEND) return x - BEND * (1 - 1 / POWER);
  return x > 0 ? x ** POWER / (POWER * BEND ** (POWER - 1)) : 0;
}

function slope(x: number): number {
  if (x > BEND) return 1;
  return x > 0 ? (x / BEND) ** (POWER - 1) : 0;
}

function logits(features: Features, pulled: Float64Array, into: Float64Array): void {
  const { values } = features;
  for (let j = 0; j < values; j++) {
    let sum = 0;
    for (let r = 0; r < values; r++) sum += activation(pulled[j * values + r]);
    into[j] = Math.min(sum, features.ceiling);
  }
}

/** Sentences with labels: y_0 and as many y as are needed. */
export interface Sentences {
  actions: number[][];
  values: number[][];
}

export function chained(action: Action, actions: number[], start: number): number[] {
  const values = [start];
  for (const g of actions) values.push(action.table[g][values[values.length - 1]]);
  return values;
}

/** All two-step sentences that start at 0: with ideal features renaming values changes nothing. */
export function twoSteps(action: Action): Sentences {
  const found: Sentences = { actions: [], values: [] };
  action.table.forEach((_, g) => action.table.forEach((_, h) => {
    found.actions.push([g, h]);
    found.values.push(chained(action, [g, h], 0));
  }));
  return found;
}

/** Mean loss of answer `step`, and its gradient added to `into` (four numbers). */
export function answerLoss(features: Features, scores: Scores, batch: Sentences, step: number, into: Float64Array): number {
  const { values } = features;
  const size = values * values;
  const count = batch.actions.length;
  const { share, counts } = masses(scores, batch.actions[0].length, step);
  const parts: Float64Array[] = [0, 1, 2, 3].map(() => new Float64Array(size));
  const pulled = new Float64Array(size);
  const logit = new Float64Array(values);
  const byMass = [0, 0, 0, 0];
  let total = 0;
  for (let i = 0; i < count; i++) {
    const actions = batch.actions[i];
    const states = batch.values[i];
    parts[1].fill(0);
    parts[3].fill(0);
    parts[0] = features.moves[actions[step - 1]];
    parts[2] = features.states[states[step - 1]];
    actions.forEach((g, place) => {
      if (place !== step - 1) for (let r = 0; r < size; r++) parts[1][r] += features.moves[g][r];
    });
    for (let place = 0; place < step - 1; place++) for (let r = 0; r < size; r++) parts[3][r] += features.states[states[place]][r];
    for (let r = 0; r < size; r++) {
      pulled[r] = share[0] * parts[0][r] + share[1] * parts[1][r] + share[2] * parts[2][r] + share[3] * parts[3][r];
    }
    logits(features, pulled, logit);
    const target = states[step];
    let against = features.others * Math.exp(-logit[target]);
    for (let j = 0; j < values; j++) if (j !== target) against += Math.exp(logit[j] - logit[target]);
    total += Math.log1p(against);
    for (let j = 0; j < values; j++) {
      if (logit[j] === features.ceiling) continue; // clipped: flat
      const error = j === target ? -against / (1 + against) : Math.exp(logit[j] - logit[target]) / (1 + against);
      for (let r = j * values; r < (j + 1) * values; r++) {
        const pull = error * slope(pulled[r]);
        if (pull !== 0) for (let kind = 0; kind < 4; kind++) byMass[kind] += pull * parts[kind][r];
      }
    }
  }
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 4; j++) into[j] += (byMass[i] / count) * share[i] * ((i === j ? 1 : 0) - counts[j] * share[j]);
  }
  return total / count;
}

/** One step of descent on Q in its four numbers; `number` counts from 0. Returns the loss before it. */
export function descend(
  features: Features, scores: Scores, batch: Sentences, terms: readonly number[], variables: number, number: number,
  rate = 0.1, slowing = 100, plain = false,
): number {
  const slopes = new Float64Array(4);
  let loss = 0;
  for (const step of terms) loss += answerLoss(features, scores, batch, step, slopes);
  const rest = variables - 1; // a row of Q has one own and |X| - 1 other entries per block; each other one gets an equal share
  slopes[1] /= rest;
  slopes[3] /= rest;
  const square = slopes[0] ** 2 + slopes[2] ** 2 + rest * (slopes[1] ** 2 + slopes[3] ** 2);
  const scale = plain ? rate / variables : rate / (1 + number / slowing) / Math.sqrt(Math.max(square, Number.MIN_VALUE));
  if (loss > 0) for (let i = 0; i < 4; i++) scores[i] -= scale * slopes[i];
  return loss;
}

/** Greedy values y_1..y_steps, each read from its own predecessors. */
export function rollout(features: Features, scores: Scores, actions: number[], start: number, steps = actions.length): number[] {
  const size = features.values * features.values;
  const whole = new Float64Array(size);
  for (const g of actions) for (let r = 0; r < size; r++) whole[r] += features.moves[g][r];
  const earlier = new Float64Array(size);
  const pulled = new Float64Array(size);
  const logit = new Float64Array(features.values);
  const written: number[] = [];
  let value = start;
  for (let step = 1; step <= steps; step++) {
    const { share } = masses(scores, actions.length, step);
    const move = features.moves[actions[step - 1]];
    const state = features.states[value];
    for (let r = 0; r < size; r++) {
      pulled[r] = share[0] * move[r] + share[1] * (whole[r] - move[r]) + share[2] * state[r] + share[3] * earlier[r];
      earlier[r] += state[r];
    }
    logits(features, pulled, logit);
    value = logit.indexOf(Math.max(...logit));
    written.push(value);
  }
  return written;
}
