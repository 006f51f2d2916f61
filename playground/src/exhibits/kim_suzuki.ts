/** Kim and Suzuki: one gradient step with teacher forcing; log2 k rounded steps on the own chain, with and without the filter. */
import { released } from "../core/filter";
import { Model, Work } from "../core/model";
import { Random } from "../core/random";
import { Updater } from "../core/rules";
import { loss } from "../core/signals";
import { boolean, children, drawInputs, sample, type Task } from "../core/tasks";
import { attentionGrid } from "./log_icot";
import { SEEDS, slider } from "./settings";
import { curve, median, percent } from "./summaries";
import filterRange from "../../fixtures/filter-range.json";
import { type Arm, type Exhibit, type Member, type Panel, type Picture, type Point, type State, type View, whole } from "./types";

const ARMS: Arm[] = [
  { slug: "one-step", label: "one step, teacher forcing", colour: "green" },
  { slug: "filtered", label: "own chain, filtered", colour: "blue" },
  { slug: "unfiltered", label: "own chain, no filter", colour: "purple" },
];
const BLOCK = 512; // chains that are read at once; an update goes over all samples block by block
const HELD_OUT = 1000;
const CURVATURE = Math.PI ** 2 / 2; // c of the cosine link

const taskOf = (state: State): Task => boolean(whole(state, "bits"), whole(state, "sparsity"));

class Stepping implements Member {
  measured: Point[] = [];
  private readonly task: Task;
  private readonly kids: [number, number][];
  private readonly model: Model;
  private readonly updater: Updater;
  private readonly wanted: number; // updates
  private readonly strings: Float64Array;
  private readonly test: Float64Array;
  private readonly ones: Float64Array;
  private passes: Float64Array;
  private work: Work;
  private history: number[] = [];
  private data: Random;
  private done = 0; // chains of this update
  updates = 0;

  constructor(private readonly state: State, private readonly arm: string, private readonly seed: number) {
    this.task = taskOf(state);
    const { layout, bits } = this.task;
    this.kids = children(this.task, new Random(seed, 1).subset(bits, this.task.sparsity));
    this.model = new Model(layout, "cosine", arm === "one-step" ? "causal" : "lower-levels");
    const rate = (whole(state, "strength") * bits ** 2) / (2 * CURVATURE); // eta = K d^2 / 2c
    this.updater = new Updater({ kind: "gd", rate, rounded: arm !== "one-step" }, this.model.weights.length);
    this.wanted = arm === "one-step" ? 1 : layout.depth;
    this.strings = new Float64Array(layout.positions * whole(state, "strings"));
    drawInputs(this.task, new Random(seed, 4), this.strings, whole(state, "strings"));
    this.test = sample(this.task, this.kids, new Random(seed, 2), HELD_OUT);
    this.ones = new Float64Array(layout.thoughts).fill(1);
    this.data = new Random(seed, 3);
    this.work = new Work(layout, BLOCK);
    this.passes = this.filter();
    this.measure();
  }

  get finished(): boolean {
    return this.updates >= this.wanted;
  }

  private filter(): Float64Array {
    if (this.arm !== "filtered") return new Float64Array(this.task.layout.depth).fill(1);
    const count = whole(this.state, "strings");
    return released(this.model, this.strings, count, count, whole(this.state, "threshold"));
  }

  private gates(): Float64Array {
    return Float64Array.from(this.task.layout.levels, (level) => this.passes[level - 1]!);
  }

  /** One block of the samples; the update itself with the last one. The samples are the same in every update. */
  advance(): void {
    const { layout } = this.task;
    const samples = whole(this.state, "samples");
    const count = Math.min(BLOCK, samples - this.done);
    if (this.done === 0) {
      this.data = new Random(this.seed, 3);
      this.model.begin();
    }
    if (this.work.count !== count) this.work = new Work(layout, count);
    const { work } = this;
    const truth = sample(this.task, this.kids, this.data, count);
    if (this.arm === "one-step") {
      this.model.read(truth, work, 0, layout.thoughts);
      loss("squared", work, truth, layout, this.ones, samples);
      this.model.blame(truth, work, false);
    } else {
      const own = truth.slice();
      const gates = this.gates();
      this.model.write(own, work, undefined, layout.thoughts, gates);
      loss("squared", work, truth, layout, this.ones, samples);
      this.model.blame(own, work, true, layout.thoughts, gates);
    }
    this.done += count;
    if (this.done < samples) return;
    this.updater.apply(this.model.weights, this.model.finish());
    this.model.attend();
    this.done = 0;
    this.updates += 1;
    this.passes = this.filter();
    this.measure();
  }

  /** The own soft chain on held-out inputs, without the filter. */
  private measure(): void {
    const { layout } = this.task;
    const own = this.test.slice();
    this.model.write(own, new Work(layout, HELD_OUT));
    const answer = (layout.positions - 1) * HELD_OUT;
    let right = 0;
    let error = 0;
    for (let b = answer; b < answer + HELD_OUT; b++) {
      if (own[b]! * this.test[b]! > 0) right++;
      error = Math.max(error, Math.abs(own[b]! - this.test[b]!));
    }
    const mass = this.kids.map(([a, b], row) => this.model.attention[row * layout.positions + a]! + this.model.attention[row * layout.positions + b]!);
    const onPattern = Number(this.passes.every((pass, i) => pass === Number(i + 1 <= this.updates + 1)));
    this.history.push(...this.passes);
    this.measured.push({ step: this.updates, metrics: { "soft.answer": right / HELD_OUT, "soft.error": error, mass: Math.min(...mass), pattern: onPattern } });
  }

  picture(): Picture {
    const whole = this.kids.flatMap(([a, b], row) => [a, b].map((place) => this.model.weights[row * this.task.layout.positions + place]!));
    return {
      attention: this.model.attention, kids: this.kids.flat(), update: this.updates, updates: this.wanted, passes: this.history,
      weights: whole, share: this.done / Number(this.state.samples),
    };
  }
}

function status(_: State, view: View): string {
  const parts = ARMS.map((arm) => `${arm.label} ${view.last(arm.slug, "soft.answer").filter((share) => share === 1).length} of ${view.seeds}`);
  return `Seeds with every held-out answer right: ${parts.join(", ")}.`;
}

/** Recorded by the library: the share of seeds that the filter solves, by eps0 and n'. */
function map(state: State): Panel {
  const { thresholds, strings, shares, seeds, bits, sparsity } = filterRange;
  const at = (values: number[], value: number): number => {
    const right = values.findIndex((each) => each >= value);
    if (right < 0) return values.length - 0.05;
    if (right === 0) return Math.max(0.5 - (values[0]! - value) / (values[1]! - values[0]!), 0.05);
    return right - 0.5 + (value - values[right - 1]!) / (values[right]! - values[right - 1]!);
  };
  return {
    kind: "grid", columns: thresholds.length, values: shares.flat(), low: 0, high: 1, numbers: true,
    title: `Where the filter works: share of ${seeds} seeds solved at d=${bits}, k=${sparsity}, by n′ (down) and ε₀ (across); you are the dot`,
    rowLabels: strings.map((count) => `n′ = ${count}`), columnLabels: thresholds.map(String),
    dot: [at(strings, whole(state, "strings")), at(thresholds, whole(state, "threshold"))],
    says: `The recorded share of solved seeds by threshold and strings; this page stands at threshold ${state.threshold} with ${state.strings} strings.`,
  };
}

function panels(state: State, view: View): Panel[] {
  const task = taskOf(state);
  const { depth } = task.layout;
  const found: Panel[] = [];
  const filtered = view.picture("filtered");
  if (filtered) {
    const passes = filtered.passes as number[];
    const rows = passes.length / depth;
    const values = Array.from({ length: depth * (depth + 1) }, (_, i) => passes[(i % (depth + 1)) * depth + Math.floor(i / (depth + 1))] ?? NaN);
    found.push({
      kind: "grid", title: `What the filter lets through by level (down) after each update (across); reading sample ${Math.round(100 * (filtered.share as number))} %`,
      columns: depth + 1, values, low: 0, high: 1, numbers: true, rowLabels: Array.from({ length: depth }, (_, i) => `level ${i + 1}`),
      columnLabels: Array.from({ length: depth + 1 }, (_, i) => String(i)),
      says: `After ${rows - 1} updates the filter passes ${passes.slice(-depth).filter(Boolean).length} of ${depth} levels.`,
    });
  }
  found.push(map(state));
  for (const arm of ARMS) {
    const picture = view.picture(arm.slug);
    if (!picture) continue;
    const title = `${arm.label}: attention after ${picture.update} of ${picture.updates} update${picture.updates === 1 ? "" : "s"}`;
    found.push(attentionGrid(task, arm, picture, title, 0));
  }
  found.push({
    kind: "chart", title: "Right answers at the end of the model's own soft chain", x: { label: "update", low: 0, high: depth },
    y: { label: "share right", low: 0.4, high: 1 }, lines: ARMS.map((arm) => curve(view, arm, "soft.answer")), says: status(state, view),
  });
  return found;
}

function here(state: State, view: View): Record<string, string> {
  const right = (arm: string): string => `${view.last(arm, "soft.answer").filter((share) => share === 1).length} of ${view.seeds}`;
  const error = view.last("one-step", "soft.error");
  const pattern = view.series("filtered", "pattern").seeds.filter((row) => row.every((each) => each === 1)).length;
  const picture = view.picture("filtered");
  const levels = taskOf(state).layout.levels;
  const weights = picture
    ? [...new Set(levels)].map((level) => [...new Set((picture.weights as number[]).filter((_, i) => levels[i >> 1] === level))].sort((a, b) => a - b).join(" and "))
    : [];
  return {
    "KS-18": `One step: ${right("one-step")} seeds have every answer right; largest error ${error.length ? median(error).toPrecision(2) : "not yet"} by the median seed, K=${state.strength}.`,
    "KS-23": `ε₀=${state.threshold}, n′=${state.strings}: ${pattern} of ${view.seeds} seeds are on the pattern so far.`,
    "KS-24": `The children's weights of the first seed, level by level: ${weights.join("; ") || "not yet"}. Filtered: ${right("filtered")} seeds have every answer right.`,
    "KS-26": `Filtered ${right("filtered")}, without the filter ${right("unfiltered")} seeds with every answer right.`,
  };
}

function python(state: State): string {
  const last = whole(state, "seed") + whole(state, "seeds");
  return `import sorites as so
from sorites.papers.kim_suzuki.theorems import LogSteps, OneStep

seeds = range(${state.seed}, ${last})
size = dict(bits=${state.bits}, sparsity=${state.sparsity}, samples=${state.samples}, strength=${state.strength}, chains=${HELD_OUT})
result = so.train(OneStep(**size).run(), seeds)
print("one step, teacher forcing", result.history.last("soft.answer"))
for filtered in (True, False):
    steps = LogSteps(**size, strings=${state.strings}, threshold=${state.threshold}, filtered=filtered)
    result = so.train([steps.run(seed) for seed in seeds], seeds)
    print("own chain, filtered" if filtered else "own chain, no filter", result.history.last("soft.answer"))
`;
}

export const kimSuzuki: Exhibit = {
  slug: "kim-suzuki",
  title: "Kim and Suzuki",
  look:
    "Teacher forcing puts every thought's attention on its two children in a single gradient step; without it the model must climb its own chain, and the " +
    "filter releases one level per update because a level that nobody has taught yet says -1 to every string. Move ε₀ below 1 or use few strings and the filter " +
    `lets noise through: the map shows where it works (${percent(1)} is yellow).`,
  settings: [
    slider("threshold", "threshold ε₀", "KS-23", 1.5, [0.05, 1.95]),
    slider("strings", "strings n′", "KS-23", 32, [1, 64]),
    slider("bits", "bits d", "KS-23", 32, [8, 64]),
    slider("sparsity", "secret bits k", "KS-24", 8, [2, 16]),
    { ...slider("samples", "samples n", "KS-23", 300_000, [10_000, 600_000]), step: 10_000 },
    slider("strength", "strength K", "KS-23", 13.5, [1, 30]),
    ...SEEDS.map((setting) => (setting.name === "seeds" ? { ...setting, value: 2 } : setting)),
  ],
  claims: ["KS-18", "KS-23", "KS-24", "KS-26"],
  arms: () => ARMS,
  refuses: (state) =>
    whole(state, "sparsity") > whole(state, "bits")
      ? `the secret's bits are among the inputs: sparsity=${state.sparsity} > bits=${state.bits}; use a sparsity of at most ${state.bits}`
      : null,
  member: (state, arm, seed) => new Stepping(state, arm, seed),
  panels,
  status,
  here,
  python,
};
