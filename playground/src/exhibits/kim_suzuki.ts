/** Kim and Suzuki: one gradient step with teacher forcing; log2 k rounded steps on the own chain, with and without the filter. */
import filterRange from "../../fixtures/filter-range.json";
import { HELD_OUT, taskOf } from "../members/kim_suzuki";
import { attentionGrid } from "./attention";
import { SEEDS, slider } from "./settings";
import { curve, median, percent } from "./summaries";
import { type Arm, type Exhibit, type Panel, type State, type View, whole } from "./types";

const ARMS: Arm[] = [
  { slug: "one-step", label: "one step, teacher forcing", colour: "green" },
  { slug: "filtered", label: "own chain, filtered", colour: "blue" },
  { slug: "unfiltered", label: "own chain, no filter", colour: "purple" },
];

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
    if (right === 0) return Math.max(0.5 - (values[0] - value) / (values[1] - values[0]), 0.05);
    return right - 0.5 + (value - values[right - 1]) / (values[right] - values[right - 1]);
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
      kind: "grid", title: `What the filter lets through by level (down) after each update (across)${filtered.share ? `; ${Math.round(100 * (filtered.share as number))} % of the samples read for the next` : ""}`,
      columns: depth + 1, values, low: 0, high: 1, numbers: true, rowLabels: Array.from({ length: depth }, (_, i) => `level ${i + 1}`),
      columnLabels: Array.from({ length: depth + 1 }, (_, i) => String(i)),
      says: `After ${rows - 1} updates the filter passes ${passes.slice(-depth).filter(Boolean).length} of ${depth} levels.`,
    });
  }
  found.push(map(state));
  for (const arm of ARMS) {
    const picture = view.picture(arm.slug);
    if (!picture) continue;
    const title = `${arm.label}: attention after ${Number(picture.update)} of ${Number(picture.updates)} update${picture.updates === 1 ? "" : "s"}`;
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
  panels,
  status,
  here,
  python,
};
