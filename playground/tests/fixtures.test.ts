/** The same numbers as Python: weights after 100 steps from exported starts, in float64 to 1e-9, for every exhibit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import kimSuzuki from "../fixtures/kim-suzuki.json";
import lego from "../fixtures/lego.json";
import logIcot from "../fixtures/log-icot.json";
import rlSft from "../fixtures/rl-sft.json";
import { actionNamed } from "../src/core/actions";
import { type Curriculum, lessons, shares } from "../src/core/curricula";
import { released } from "../src/core/filter";
import { startLoss } from "../src/core/law";
import type { Link } from "../src/core/links";
import { type Mask, Model, Work } from "../src/core/model";
import { descend, ideal, rollout, twoSteps, chained, type Sentences } from "../src/core/routing";
import { type Rule, Updater } from "../src/core/rules";
import { loss } from "../src/core/signals";
import { boolean, children, type Decomposition, type Gate, relabel, type Task } from "../src/core/tasks";
import { internalise, type Method, reward, speak } from "../src/core/teaching";

const STEPS = 100;
const WITHIN = 1e-9;

interface Setting {
  bits: number;
  sparsity: number;
  gate: string;
  decomposition: string;
  secret: number[];
  chains: number;
  inputs: string[];
  start: number[];
}

function signs(hex: string, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => 1 - 2 * ((parseInt(hex[i >> 2], 16) >> (3 - (i & 3))) & 1));
}

function close(found: ArrayLike<number>, wanted: ArrayLike<number>, within: number, what: string): void {
  assert.equal(found.length, wanted.length, what);
  let worst = 0;
  for (let i = 0; i < wanted.length; i++) worst = Math.max(worst, Math.abs(found[i] - wanted[i]));
  assert.ok(worst <= within, `${what}: off by ${worst}`);
}

/** Step s reads batch s modulo their number; returns the losses. */
function opened(setting: Setting, link: Link, mask: Mask) {
  const task = boolean(setting.bits, setting.sparsity, setting.gate as Gate, setting.decomposition as Decomposition);
  const kids = children(task, setting.secret);
  const model = new Model(task.layout, link, mask);
  model.weights.set(setting.start);
  model.attend();
  const batches = setting.inputs.map((hex) => {
    const tokens = new Float64Array(task.layout.positions * setting.chains);
    tokens.set(signs(hex, task.bits * setting.chains));
    relabel(task, kids, tokens, tokens, setting.chains);
    return tokens;
  });
  return { task, kids, model, batches, work: new Work(task.layout, setting.chains) };
}

function moved(model: Model, updater: Updater): void {
  updater.apply(model.weights, model.gradient);
  model.attend();
}

for (const kase of logIcot.cases) {
  test(`log-icot, ${kase.curriculum}`, () => {
    const { task, model, batches, work } = opened(logIcot.setting, "cosine", "lower-levels");
    const rule: Rule = { kind: "adamw", rate: logIcot.rate, decay: logIcot.decay };
    const plan = lessons(task.layout, kase.curriculum as Curriculum);
    const own = new Float64Array(batches[0].length);
    const losses: number[] = [];
    shares(STEPS, plan.length).forEach((steps, stage) => {
      const updater = new Updater(rule, model.weights.length);
      for (let step = 0; step < steps; step++) {
        losses.push(internalise(model, plan[stage], batches[losses.length % batches.length], own, work));
        moved(model, updater);
      }
    });
    close(losses, kase.losses, WITHIN, "losses");
    close(model.weights, kase.end, WITHIN, "weights");
  });
}

test("the exact start-of-stage law", () => {
  for (const law of logIcot.laws) {
    close([startLoss(law.bits, law.sparsity, law.stage)], [law.loss], 1e-12, JSON.stringify(law));
  }
});

for (const kase of rlSft.cases) {
  const { gate, decomposition } = kase.setting;
  test(`rl-sft, ${kase.method} on ${decomposition} ${gate}`, () => {
    const mask = decomposition === "tree" ? "previous-level" : "inputs-and-previous";
    const { task, kids, model, batches, work } = opened(kase.setting, `policy-${gate}` as Link, mask);
    const updater = new Updater({ kind: "sign", rate: rlSft.rate }, model.weights.length);
    const losses: number[] = [];
    for (let step = 0; step < STEPS; step++) {
      const truth = batches[step % batches.length];
      const tokens = truth.slice();
      if (kase.method === "sft") speak(model, tokens, work);
      if (kase.tokens) tokens.set(signs(kase.tokens[step], task.layout.thoughts * work.count), task.bits * work.count);
      losses.push(reward(model, task, kids, kase.method as Method, truth, tokens, work));
      moved(model, updater);
    }
    close(losses, kase.losses, WITHIN, "losses");
    close(model.weights, kase.end, WITHIN, "weights");
  });
}

function filteredStep(model: Model, task: Task, truth: Float64Array, work: Work, passes: Float64Array): number {
  const gates = Float64Array.from(task.layout.levels, (level) => passes[level - 1]);
  const own = truth.slice();
  model.write(own, work, undefined, task.layout.thoughts, gates);
  const found = loss("squared", work, truth, task.layout, new Float64Array(task.layout.thoughts).fill(1));
  model.begin();
  model.blame(own, work, true, task.layout.thoughts, gates);
  model.finish();
  return found;
}

for (const kase of kimSuzuki.cases) {
  test(`kim-suzuki, ${kase.name}, rate ${kase.rate}, rounded ${kase.rounded}`, () => {
    const { task, model, batches, work } = opened(kase.setting, "cosine", kase.name === "one-step" ? "causal" : "lower-levels");
    const updater = new Updater({ kind: "gd", rate: kase.rate, rounded: kase.rounded }, model.weights.length);
    const losses: number[] = [];
    const patterns = new Set<string>();
    for (let step = 0; step < STEPS; step++) {
      const truth = batches[step % batches.length];
      if (kase.name === "one-step") {
        model.read(truth, work, 0, task.layout.thoughts);
        losses.push(loss("squared", work, truth, task.layout, new Float64Array(task.layout.thoughts).fill(1)));
        model.begin();
        model.blame(truth, work, false);
        model.finish();
      } else {
        assert.ok(kase.strings && kase.used && kase.threshold, "a filtered case has strings");
        const passes = released(model, signs(kase.strings, task.bits * 16), 16, kase.used, kase.threshold);
        patterns.add(passes.join());
        losses.push(filteredStep(model, task, truth, work, passes));
      }
      moved(model, updater);
    }
    close(losses, kase.losses, WITHIN, `losses (filters ${[...patterns].join(" ")})`);
    close(model.weights, kase.end, WITHIN, "weights");
  });
}

for (const kase of lego.cases) {
  test(`lego, ${kase.action}, ${kase.rule}`, () => {
    const action = actionNamed(kase.action);
    assert.deepEqual(action.table, kase.table);
    assert.equal(action.simple, kase.terms.length === 2);
    const features = ideal(action, kase.variables, kase.clipping);
    const scores = new Float64Array(4);
    const losses: number[] = [];
    for (let step = 0; step < STEPS; step++) {
      losses.push(descend(features, scores, twoSteps(action), kase.terms, kase.variables, step, kase.rate, 100, kase.rule === "plain"));
    }
    close(losses, kase.losses, WITHIN, "losses");
    close(scores, kase.end, WITHIN, "scores");
    kase.rollout.actions.forEach((moves, i) => {
      assert.deepEqual(rollout(features, scores, moves, kase.rollout.start[i]), kase.rollout.written[i]);
    });
    if (!kase.continued) return;
    const later = kase.continued;
    const annotator = scores.slice();
    const grown: number[] = [];
    for (let step = 0; step < STEPS; step++) {
      const starts = Array.from(later.start[step], Number);
      const flat = Array.from(later.actions[step], Number);
      const batch: Sentences = { actions: starts.map((_, i) => flat.slice(i * later.length, (i + 1) * later.length)), values: [] };
      batch.values = batch.actions.map((moves, i) => [starts[i], ...rollout(features, annotator, moves, starts[i], 2)]);
      grown.push(descend(features, scores, batch, [2], kase.variables, step, kase.rate));
    }
    close(grown, later.losses, WITHIN, "self-training losses");
    close(scores, later.end, WITHIN, "self-training scores");
    assert.equal(chained(action, [0, 0], 1)[2], 1);
  });
}
