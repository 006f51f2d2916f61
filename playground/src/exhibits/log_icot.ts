/** The gated transformer on k-parity under four curricula, with the exact start-of-stage law. */
import { startLoss } from "../core/law";
import { HELD_OUT, taskOf } from "../members/log_icot";
import { attentionGrid } from "./attention";
import { SEEDS, slider } from "./settings";
import { curve, digits } from "./summaries";
import { type Arm, type Exhibit, type Panel, type State, type View, whole } from "./types";

const ARMS: Arm[] = [
  { slug: "log-icot", label: "Log-ICoT", colour: "blue" },
  { slug: "icot", label: "ICoT", colour: "green" },
  { slug: "teacher-forcing", label: "teacher forcing", colour: "orange" },
  { slug: "direct", label: "answer alone", colour: "purple" },
];
const depthOf = (state: State): number => Math.log2(whole(state, "sparsity"));

function panels(state: State, view: View): Panel[] {
  const { bits, sparsity, layout } = taskOf(state);
  const steps = whole(state, "steps");
  const diamonds = Array.from({ length: layout.depth }, (_, i) => ({ x: i * steps, y: startLoss(bits, sparsity, i + 1) }));
  const charts: Panel[] = [
    {
      kind: "chart", title: "Loss of what is taught, with the exact law at each start of a Log-ICoT stage (diamonds)",
      x: { label: "update", low: 0, high: steps * layout.depth }, y: { label: "held-out loss", log: true, low: 1e-4, high: 2 * sparsity },
      lines: ARMS.map((arm) => curve(view, arm, "own.loss", 1e-4)), diamonds, stages: diamonds.slice(1).map(({ x }) => x),
      says: `Loss by update. ${status(state, view)}`,
    },
    {
      kind: "chart", title: "Right answers from the inputs alone, in one forward pass",
      x: { label: "update", low: 0, high: steps * layout.depth }, y: { label: "share right", low: 0.4, high: 1 },
      lines: ARMS.map((arm) => curve(view, arm, "padded.answer")), stages: diamonds.slice(1).map(({ x }) => x),
      says: `Share of right answers by update. ${status(state, view)}`,
    },
  ];
  for (const arm of ARMS) {
    const picture = view.picture(arm.slug);
    if (!picture) continue;
    const removed = picture.removed as number;
    const padded = removed ? `, ${removed} of ${layout.thoughts} thoughts gone` : ", every thought shown";
    charts.push(attentionGrid(taskOf(state), arm, picture, `${arm.label}: stage ${Number(picture.stage)} of ${Number(picture.stages)}${padded}`, removed));
  }
  return charts;
}

function status(_: State, view: View): string {
  const parts = ARMS.map((arm) => {
    const found = view.last(arm.slug, "padded.answer");
    return `${arm.label} ${found.filter((share) => share === 1).length} of ${view.seeds}`;
  });
  return `Seeds with every held-out answer right now: ${parts.join(", ")}.`;
}

function here(state: State, view: View): Record<string, string> {
  const { bits, sparsity, layout } = taskOf(state);
  const starts = layout.levels.length ? Array.from({ length: layout.depth }, (_, i) => i + 1) : [];
  const pairs = starts.map((stage) => {
    const found = view.last("log-icot", `start.${stage}`);
    const mean = found.reduce((sum, each) => sum + each, 0) / found.length;
    return `stage ${stage}: ${digits(startLoss(bits, sparsity, stage))} / ${found.length ? digits(mean) : "not yet"}`;
  });
  const right = view.last("log-icot", "padded.answer").filter((share) => share === 1).length;
  const when = view.last("log-icot", "solved").filter((step) => !Number.isNaN(step));
  return {
    "LI-21": `Loss at the start, law / mean of the seeds: ${pairs.join("; ")}.`,
    "LI-22": `${right} of ${view.seeds} seeds have every held-out answer right${when.length ? `, first after ${Math.min(...when)} updates` : ""}.`,
    "LI-24": `Log-ICoT takes ${layout.depth} stages here, ICoT ${layout.thoughts}.`,
    "LI-20": "The page trains the reduced model, in which shown thoughts do not occur: what is shown reaches it as labels alone.",
  };
}

function python(state: State): string {
  const total = whole(state, "steps") * depthOf(state);
  return `import sorites as so
from sorites.theory import tree_law
from sorites.training import CURRICULA

task = so.Parity(bits=${state.bits}, sparsity=${state.sparsity})
for name, curriculum in CURRICULA.items():
    lessons = curriculum(task.layout)
    steps = max(${total} // len(lessons) // 5 * 5, 5)  # whole evaluations, the same number of updates in all
    plan = so.stages(
        task, lessons, so.Sampled(${state.batch}), so.AdamW(${state.rate}, decay=${state.decay}), steps, so.Evaluation(every=5, count=${HELD_OUT})
    )
    result = so.train(so.Run(so.gated(task), plan), seeds=range(${state.seed}, ${whole(state, "seed") + whole(state, "seeds")}))
    print(name, "right answers by seed:", result.history.last("padded.answer"))

for stage in range(1, task.layout.depth + 1):
    print("law at the start of stage", stage, tree_law.start_loss(task.bits, task.sparsity, stage))
`;
}

export const logIcot: Exhibit = {
  slug: "log-icot",
  title: "Log-ICoT",
  look:
    "Watch the blue loss fall onto the next diamond at every stage: the diamonds are not fitted, they are the exact loss of a stage that begins with " +
    "all lower layers learned. Watch the attention maps sharpen on the circled children from the lowest level up, and which curricula get there when " +
    "the thoughts (striped rows) are taken away.",
  settings: [
    slider("bits", "bits n", "LI-22", 16, [4, 32]),
    slider("sparsity", "secret bits k", "LI-22", 8, [2, 16]),
    slider("rate", "rate", "LI-22", 0.1, [0.01, 1]),
    slider("batch", "batch", "LI-22", 256, [16, 1000]),
    slider("steps", "updates a stage", "LI-22", 150, [25, 500]),
    slider("decay", "weight decay", "LI-22", 0.01, [0, 0.2]),
    ...SEEDS.map((setting) => (setting.name === "seeds" ? { ...setting, value: 4 } : setting)),
  ],
  claims: ["LI-21", "LI-22", "LI-24", "LI-20"],
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
