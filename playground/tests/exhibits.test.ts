/** Every exhibit draws before it has run, survives the corners of its sliders, and learns what it says at a small size. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../src/core/random";
import { EXHIBITS, LIST } from "../src/exhibits";
import { defaults, nearest } from "../src/exhibits/settings";
import type { Exhibit, State } from "../src/exhibits/types";
import { MEMBERS } from "../src/members";
import { History } from "../src/page/history";

function trained(exhibit: Exhibit, changes: State, most = Infinity): { view: History; state: State } {
  const state = { ...defaults(exhibit.settings), seeds: 1, ...changes };
  assert.equal(exhibit.refuses(state), null);
  const view = new History(1);
  for (const { slug } of exhibit.arms(state)) {
    const member = MEMBERS[exhibit.slug](state, slug, 0);
    for (let i = 0; i < most && !member.finished; i++) member.advance();
    view.add({ run: 0, points: [{ arm: slug, seed: 0, points: member.measured }], pictures: { [slug]: member.picture() }, finished: true, seconds: 0, updates: 0 });
  }
  return { view, state };
}

/** No number that is drawn or said is missing. */
function sound(exhibit: Exhibit, view: History, state: State): void {
  for (const panel of exhibit.panels(state, view)) {
    assert.ok(panel.says && panel.title);
    if (panel.kind === "chart") for (const { y } of panel.lines) assert.ok(y.every(Number.isFinite), `${exhibit.slug}: ${panel.title}`);
    else assert.equal(panel.values.length % panel.columns, 0, panel.title);
  }
  const said = [exhibit.status(state, view), ...Object.values(exhibit.here(state, view)), exhibit.python(state)].join("\n");
  assert.doesNotMatch(said, /NaN|undefined|Infinity/);
}

for (const exhibit of LIST) {
  test(`${exhibit.slug} draws before it has run`, () => {
    const state = defaults(exhibit.settings);
    sound(exhibit, new History(1), state);
    assert.ok(Object.keys(exhibit.here(state, new History(1))).every((id) => exhibit.claims.includes(id)));
  });

  test(`${exhibit.slug} survives the corners of its sliders`, () => {
    const random = new Random(7);
    const corners = [() => 0, () => 1, ...Array.from({ length: 4 }, () => () => random.uniform())];
    for (const corner of corners) {
      const state: State = {};
      for (const setting of exhibit.settings) {
        const at = corner();
        if (setting.kind === "choice") state[setting.name] = setting.choices[Math.round(at * (setting.choices.length - 1))];
        else state[setting.name] = nearest(setting, setting.log ? setting.low * (setting.high / setting.low) ** at : setting.low + at * (setting.high - setting.low));
      }
      if ("sparsity" in state) state.sparsity = Math.min(Number(state.sparsity), 2 ** Math.floor(Math.log2(Number(state.bits))));
      if ("samples" in state && exhibit.slug === "rl-sft") state.samples = Math.min(Number(state.samples), 5000);
      const found = trained(exhibit, { ...state, seeds: 1 }, 2);
      sound(exhibit, found.view, found.state);
    }
  });
}

test("rl-sft: process reward and teacher forcing learn a tree in one update, SFT in T - 1, outcome reward not", () => {
  const { view } = trained(EXHIBITS["rl-sft"], { bits: 8, samples: 5000, updates: 3 });
  const first = (arm: string): number => view.series(arm, "exact").seeds[0].indexOf(1);
  assert.deepEqual(["process-reward", "teacher-forcing", "sft", "outcome-reward"].map(first), [1, 1, 2, -1]);
});

test("kim-suzuki: the filter climbs its own chain with eps0 above 1, not below", () => {
  for (const [threshold, right] of [[1.5, 1], [0.7, 0]] as const) {
    const { view } = trained(EXHIBITS["kim-suzuki"], { samples: 50_000, threshold });
    assert.equal(Number(view.last("filtered", "soft.answer")[0] === 1), right, `eps0=${threshold}`);
    assert.equal(Number(view.series("filtered", "pattern").seeds[0].every((each) => each === 1)), right);
    assert.equal(view.last("one-step", "soft.answer")[0], 1);
  }
});

test("lego: C3 needs no self-training; S3 breaks, and self-training pushes that out", () => {
  const cyclic = trained(EXHIBITS.lego, { action: "C3", steps: 300, stages: 0, samples: 40 }).view;
  assert.equal(cyclic.last("action", "right.0.160")[0], 1);
  const { view } = trained(EXHIBITS.lego, { action: "S3", steps: 60, samples: 40, batch: 128 });
  assert.ok(view.last("action", "right.0.160")[0] < 0.5);
  assert.ok(view.last("action", "right.3.160")[0] > view.last("action", "right.0.160")[0]);
});
