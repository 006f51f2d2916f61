/** LEGO: four numbers of attention under a group's action, the length where answers break, and self-training that pushes it out. */
import { ACTIONS, actionNamed } from "../core/actions";
import { masses } from "../core/routing";
import { LENGTHS, RATE, SLOWING } from "../members/lego";
import { choice, count, SEEDS, slider } from "./settings";
import { curve, digits, median, percent } from "./summaries";
import { type Arm, type Colour, type Exhibit, type Line, type Panel, type State, type View, whole } from "./types";

const WIDER = [2, 4, 8, 16, 32, 64, 128];
const STAGES: { label: string; colour: Colour }[] = [
  { label: "two steps", colour: "orange" },
  { label: "self-trained at 4", colour: "sky" },
  { label: "at 8", colour: "green" },
  { label: "at 16", colour: "blue" },
];
const NUMBERS: { label: string; colour: Colour }[] = [
  { label: "own predicate", colour: "blue" },
  { label: "other predicates", colour: "sky" },
  { label: "own answer", colour: "vermillion" },
  { label: "other answers", colour: "orange" },
];

const armOf = (state: State): Arm => ({ slug: "action", label: String(state.action), colour: "blue" });

function rights(view: View, stage: number): { x: number[]; y: number[]; low: number[]; high: number[] } {
  const known = LENGTHS.filter((length) => view.last("action", `right.${stage}.${length}`).length);
  const rows = known.map((length) => view.last("action", `right.${stage}.${length}`));
  return { x: known, y: rows.map(median), low: rows.map((row) => Math.min(...row)), high: rows.map((row) => Math.max(...row)) };
}

/** The longest length up to which every rollout of the middle seed is right. */
function reach(view: View, stage: number): string {
  const { x, y } = rights(view, stage);
  const first = y.findIndex((share) => share < 0.99);
  if (!x.length) return "not yet";
  return first < 0 ? `${x[x.length - 1]}` : first === 0 ? `below ${x[0]}` : `${x[first - 1]}`;
}

function status(state: State, view: View): string {
  const stages = whole(state, "stages");
  const parts = Array.from({ length: stages + 1 }, (_, stage) => `${STAGES[stage].label}: ${reach(view, stage)}`);
  return `Longest length with 99 % of the sentences right, ${parts.join("; ")}.`;
}

/** epsilon at L = l from the error e at length 2: N / (N + 2 (1 - e) / e), N = L + l - 2. */
function diluted(scores: Float64Array, length: number): number {
  const small = masses(scores, 2, 2).error;
  return (2 * length - 2) / (2 * length - 2 + (2 * (1 - small)) / small);
}

function clauses(state: State, scores: Float64Array): Panel {
  const length = 16;
  const step = 8;
  const { share } = masses(scores, length, step);
  const values = Array.from({ length: 2 * length }, (_, i) => {
    if (i < length) return i === step - 1 ? share[0] : share[1];
    return i - length >= step ? NaN : i - length === step - 1 ? share[2] : share[3];
  });
  return {
    kind: "grid", title: `Attention at length ${length} when answer ${step} is asked: ${length} predicates, then the answers so far`, columns: length, values,
    low: 0, high: 0.5, marks: [[0, step - 1], [1, step - 1]], rowLabels: ["predicate", "answer"],
    columnLabels: Array.from({ length }, (_, i) => String(i + 1)),
    says: `${state.action}: ${percent(share[0])} on the right predicate, ${percent(share[2])} on the right answer.`,
  };
}

function cayley(state: State): Panel {
  const { product, name, table } = actionNamed(String(state.action));
  return {
    kind: "grid", title: `${name}: ${product.length} actions on ${table[0].length} values; its Cayley table`, columns: product.length, values: product.flat(),
    low: 0, high: product.length - 1, still: true, says: `The Cayley table of ${name}, ${product.length} by ${product.length}.`,
  };
}

function panels(state: State, view: View): Panel[] {
  const arm = armOf(state);
  const scores = (view.picture("action")?.scores as Float64Array | undefined) ?? new Float64Array(4);
  const total = whole(state, "steps") + whole(state, "stages") * whole(state, "self_steps");
  const stages = Array.from({ length: whole(state, "stages") }, (_, i) => whole(state, "steps") + i * whole(state, "self_steps"));
  const lines: Line[] = STAGES.slice(0, whole(state, "stages") + 1).map((stage, i) => ({ ...stage, ...rights(view, i) }));
  return [
    {
      kind: "chart", title: "Sentences with every answer right, by length: where it breaks, and how self-training pushes that out",
      x: { label: "length L", log: true, low: 4, high: 200 }, y: { label: "share right", low: 0, high: 1 }, lines, says: status(state, view),
    },
    {
      kind: "chart", title: "Attention off the two target clauses, at length 2", x: { label: "update", low: 0, high: total },
      y: { label: "error ε", log: true, low: 1e-4, high: 1 }, lines: [curve(view, arm, "error", 1e-4)], stages,
      says: `Attention error now: ${digits(masses(scores, 2, 2).error)}.`,
    },
    {
      kind: "chart", title: "The four numbers of attention", x: { label: "update", low: 0, high: total }, y: { label: "score" }, stages,
      lines: NUMBERS.map(({ label, colour }, i) => ({ ...curve(view, arm, `score.${i}`, -Infinity, label), colour })),
      says: `Scores: ${Array.from(scores, (score, i) => `${NUMBERS[i].label} ${score.toFixed(2)}`).join(", ")}.`,
    },
    {
      kind: "chart", title: "The same error at the last answer of longer sentences, with the law of dilution, L15 (diamonds)",
      x: { label: "length L", log: true, low: 2, high: 200 }, y: { label: "error ε", log: true, low: 1e-4, high: 1 },
      lines: [{ label: arm.label, colour: "blue", x: WIDER, y: WIDER.map((length) => masses(scores, length, length).error) }],
      diamonds: WIDER.map((length) => ({ x: length, y: diluted(scores, length) })),
      says: `At length 64 the error is ${digits(masses(scores, 64, 64).error)}, the law gives ${digits(diluted(scores, 64))}.`,
    },
    clauses(state, scores),
    cayley(state),
  ];
}

function here(state: State, view: View): Record<string, string> {
  const scores = (view.picture("action")?.scores as Float64Array | undefined) ?? new Float64Array(4);
  const { x, y } = curve(view, armOf(state), "error");
  const path = (step: number): number => RATE * SLOWING * Math.log1p(step / SLOWING);
  const last = Math.min(x.length - 1, whole(state, "steps"));
  const from = Math.floor(last / 4);
  const slope = last > 8 ? -Math.log(y[last] / y[from]) / (path(x[last]) - path(x[from])) : NaN;
  const stages = whole(state, "stages");
  return {
    L14: Number.isNaN(slope) ? "Not enough updates yet." : `ln ε falls by ${slope.toFixed(3)} per path length after the first quarter; 1/√2 = 0.707 for cyclic groups.`,
    L15: `Error at L = ℓ = 64: ${digits(masses(scores, 64, 64).error)}; the law from the error at length 2 gives ${digits(diluted(scores, 64))}.`,
    L16: `After two-step sentences 99 % of the sentences are right up to length ${reach(view, 0)}.`,
    L17: stages ? `After self-training up to length ${2 ** (stages + 1)}: right up to length ${reach(view, stages)}, before ${reach(view, 0)}.` : "No self-training is asked for.",
  };
}

function python(state: State): string {
  return `from sorites.papers.lego.setting import LENGTHS, Theory, accuracies
from sorites.tasks.actions import action_named

theory = Theory(variables=${state.variables}, clipping=${state.clipping}, steps=${state.steps})
action = action_named("${state.action}")
features = theory.features(action)
print("two steps", dict(zip(LENGTHS, accuracies(features, theory.run("${state.action}").end, action, count=${state.samples}))))
${
  whole(state, "stages")
    ? `for stage in theory.continued("${state.action}", stages=${state.stages}, steps=${state.self_steps}, samples=${state.batch}):
    right = accuracies(features, stage.history.end, action, count=${state.samples})
    print("self-trained at", stage.length, dict(zip(LENGTHS, right)))
`
    : ""
}`;
}

export const lego: Exhibit = {
  slug: "lego",
  title: "LEGO",
  look:
    "From sentences of two steps attention learns to pick the right predicate and the right answer, four numbers in all; the cyclic groups soon get it sharp " +
    "enough for every length drawn here, the large symmetric ones break at some length. Then the model labels longer sentences itself, at length 4, 8, 16, and each round pushes that length out.",
  settings: [
    choice("action", "group", ACTIONS, "S4"),
    slider("variables", "variables", "L16", 200, [161, 400]),
    slider("clipping", "clipping", "L16", 4, [2, 6]),
    slider("steps", "updates", "L16", 120, [10, 600]),
    slider("self_steps", "self-training", "L17", 60, [10, 200]),
    count("stages", "rounds of it", 3, 0, 3),
    slider("batch", "its sentences", "L17", 256, [32, 512]),
    slider("samples", "test sentences", "L16", 100, [20, 400]),
    ...SEEDS.map((setting) => (setting.name === "seeds" ? { ...setting, value: 2 } : setting)),
  ],
  claims: ["L16", "L17", "L14", "L15"],
  arms: (state) => [armOf(state)],
  refuses: () => null,
  panels,
  status,
  here,
  python,
};
