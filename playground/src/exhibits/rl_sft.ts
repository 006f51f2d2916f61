/** The one-layer transformer on trees and serial chains: process and outcome reward, SFT, teacher forcing, sign updates. */
import { HELD_OUT, taskOf } from "../members/rl_sft";
import { attentionGrid } from "./attention";
import { choice, count, SEEDS, slider } from "./settings";
import { curve, median, percent } from "./summaries";
import { type Arm, type Exhibit, type Panel, type State, type View, whole } from "./types";

const ARMS: Arm[] = [
  { slug: "process-reward", label: "RL, process reward", colour: "blue" },
  { slug: "sft", label: "SFT, own thoughts", colour: "orange" },
  { slug: "teacher-forcing", label: "SFT, teacher forcing", colour: "green" },
  { slug: "outcome-reward", label: "RL, outcome reward", colour: "purple" },
];

/** The first update after which every thought of every seed that gets there is right, by seed. */
function exactAt(view: View, arm: string): number[] {
  const { steps, seeds } = view.series(arm, "exact");
  return seeds.map((row) => steps[row.indexOf(1)] ?? NaN);
}

function learned(view: View, arm: Arm): string {
  const when = exactAt(view, arm.slug).filter((step) => !Number.isNaN(step));
  return `${arm.label} ${when.length} of ${view.seeds}${when.length ? ` (after ${median(when)})` : ""}`;
}

const status = (_: State, view: View): string => `Seeds that write every thought right: ${ARMS.map((arm) => learned(view, arm)).join(", ")}.`;

function panels(state: State, view: View): Panel[] {
  const task = taskOf(state);
  const { depth } = task.layout;
  const updates = whole(state, "updates");
  const found: Panel[] = ARMS.map((arm) => {
    const values: number[] = [];
    for (let level = 1; level <= depth; level++) {
      const line = curve(view, arm, `rolled.level.${level}`);
      for (let update = 0; update <= updates; update++) values.push(line.y[update] ?? NaN);
    }
    return {
      kind: "grid", title: `${arm.label}: right thoughts by level (down) and update (across)`, columns: updates + 1, values, low: 0.5, high: 1,
      numbers: updates <= 12, rowLabels: Array.from({ length: depth }, (_, i) => `level ${i + 1}`),
      columnLabels: Array.from({ length: updates + 1 }, (_, i) => (updates <= 12 || i % 5 === 0 ? String(i) : "")),
      says: `${learned(view, arm)}.`,
    };
  });
  for (const arm of ARMS.slice(0, 2)) {
    const picture = view.picture(arm.slug);
    if (picture) found.push(attentionGrid(task, arm, picture, `${arm.label}: attention after ${Number(picture.update)} updates`, 0));
  }
  found.push({
    kind: "chart", title: "Right answers at the end of a chain that the model writes itself", x: { label: "update", low: 0, high: updates },
    y: { label: "share right", low: 0.4, high: 1 }, lines: ARMS.map((arm) => curve(view, arm, "rolled.answer")), says: status(state, view),
  });
  const law = (update: number): number => 1 / (1 + ((task.bits - 2) / 2) * Math.exp(-2 * whole(state, "rate") * update)); // rl-sft, Thm 4.1(2)
  found.push({
    kind: "chart", title: "Attention of level 1 on its two children, with the law of sign updates, Thm 4.1(2) (diamonds)",
    x: { label: "update", low: 0, high: updates }, y: { label: "attention", low: 0, high: 1 }, lines: ARMS.map((arm) => curve(view, arm, "mass.1")),
    diamonds: Array.from({ length: updates + 1 }, (_, update) => ({ x: update, y: law(update) })),
    says: `The law after one update is ${law(1).toFixed(4)}; measured: ${view.series("process-reward", "mass.1").seeds.map((row) => row[1]?.toFixed(4) ?? "not yet").join(", ") || "not yet"}.`,
  });
  return found;
}

function here(state: State, view: View): Record<string, string> {
  const { depth } = taskOf(state).layout;
  const parts = ARMS.map((arm) => {
    const when = exactAt(view, arm.slug);
    return `${arm.label} ${when.map((step) => (Number.isNaN(step) ? "–" : step)).join(", ") || "not yet"}`;
  });
  const all = `Updates until every thought is right, by seed: ${parts.join("; ")}.`;
  const sft = curve(view, ARMS[1], "rolled.level.1");
  const levels = sft.x.map((_, i) => {
    let done = 0;
    while (done < depth && curve(view, ARMS[1], `rolled.level.${done + 1}`).y[i] === 1) done++;
    return done;
  });
  const keys = whole(state, "bits");
  const worst = state.gate === "parity" ? (3 + 2 * Math.SQRT2) / 2 : 1.5;
  const threshold = 0.5 * Math.log((keys - 2) * worst);
  const first = curve(view, ARMS[1], "rolled.level.1").y.at(1);
  const own: Record<string, string> = {
    "RS-15": `SFT's exact levels after update 0, 1, 2, ...: ${levels.join(", ") || "not yet"} of ${depth}.`,
    "RS-16": `Level 1 needs a rate above ${threshold.toFixed(3)} here; with ${state.rate} ${first === undefined ? "nothing is measured yet" : `${percent(first)} of it is right after one update`}.`,
  };
  own[state.decomposition === "tree" ? "RS-34" : "RS-33"] = all;
  return own;
}

function python(state: State): string {
  return `import sorites as so
from sorites.papers.rl_sft.experiments import Experiment

for method in ("rl", "sft", "forced", "outcome"):
    experiment = Experiment(
        bits=${state.bits}, sparsity=${state.sparsity}, gate="${state.gate}", decomposition="${state.decomposition}", method=method,
        rate=${state.rate}, samples=${state.samples}, updates=${state.updates}, chains=${HELD_OUT},
    )
    result = so.train(experiment.run(), seeds=range(${state.seed}, ${whole(state, "seed") + whole(state, "seeds")}))
    print(method, result.history.metrics["rolled.levels"])  # [seed, update, level]: share of right thoughts
`;
}

export const rlSft: Exhibit = {
  slug: "rl-sft",
  title: "RL against SFT",
  look:
    "Read each table from left to right: with process reward or teacher forcing every level of a tree turns yellow after the first update, SFT on its own " +
    "thoughts learns one level per update, and a reward on the answer alone teaches nothing. Then choose a serial chain, another gate, or a smaller rate, and " +
    "see which of this survives.",
  settings: [
    choice("gate", "gate", ["parity", "and", "or"]),
    choice("decomposition", "chain", ["tree", "serial"]),
    slider("bits", "bits d", "RS-34", 10, [4, 24]),
    slider("sparsity", "secret bits k", "RS-34", 8, [4, 16]),
    slider("rate", "rate", "RS-34", 4, [0.1, 10]),
    slider("updates", "updates", "RS-34", 6, [1, 30], "limit"),
    count("samples", "samples", 10000, 500, 50000, 500),
    ...SEEDS,
  ],
  claims: ["RS-34", "RS-15", "RS-16", "RS-33"],
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
