/** The one-layer transformer as a policy, taught one way by sign updates. */
import type { Link } from "../core/links";
import { Model, roomFor, Work } from "../core/model";
import { Random } from "../core/random";
import { Updater } from "../core/rules";
import { boolean, children, type Decomposition, type Gate, sample, type Task } from "../core/tasks";
import { type Method, reward, speak } from "../core/teaching";
import { type Member, type Picture, type Point, type State, whole } from "../exhibits/types";

export const HELD_OUT = 1000; // chains

export const taskOf = (state: State): Task =>
  boolean(whole(state, "bits"), whole(state, "sparsity"), state.gate as Gate, state.decomposition as Decomposition);

export class Rewarded implements Member {
  measured: Point[] = [];
  private readonly task: Task;
  private readonly kids: [number, number][];
  private readonly model: Model;
  private readonly random: Random;
  private readonly updater: Updater;
  private readonly test: { tokens: Float64Array; own: Float64Array; work: Work };
  updates = 0;

  constructor(private readonly state: State, private readonly method: Method, private readonly seed: number) {
    this.task = taskOf(state);
    const secret = new Random(seed, 1);
    this.kids = children(this.task, secret.subset(this.task.bits, this.task.sparsity));
    const mask = this.task.decomposition === "tree" ? "previous-level" : "inputs-and-previous";
    this.model = new Model(this.task.layout, `policy-${this.task.gate}` as Link, mask);
    this.random = new Random(seed, 4);
    this.updater = new Updater({ kind: "sign", rate: whole(state, "rate") }, this.model.weights.length);
    const tokens = sample(this.task, this.kids, new Random(seed, 2), HELD_OUT);
    this.test = { tokens, own: tokens.slice(), work: new Work(this.task.layout, HELD_OUT) };
    this.measure();
  }

  get finished(): boolean {
    return this.updates >= whole(this.state, "updates");
  }

  advance(): void {
    // One fixed data set, as in the paper; drawn again from its seed, for many members would fill the memory with theirs.
    const truth = sample(this.task, this.kids, new Random(this.seed, 3), whole(this.state, "samples"));
    const work = roomFor(this.task.layout, whole(this.state, "samples"));
    const tokens = this.method === "teacher-forcing" ? truth : truth.slice();
    if (this.method === "sft") speak(this.model, tokens, work);
    else if (this.method !== "teacher-forcing") speak(this.model, tokens, work, () => this.random.uniform());
    reward(this.model, this.task, this.kids, this.method, truth, tokens, work);
    this.updater.apply(this.model.weights, this.model.gradient);
    this.model.attend();
    this.updates += 1;
    this.measure();
  }

  /** The share of right thoughts on each level of a chain that the model writes greedily itself. */
  private measure(): void {
    const { tokens, own, work } = this.test;
    const { layout } = this.task;
    speak(this.model, own, work);
    const right = new Float64Array(layout.depth);
    const size = new Float64Array(layout.depth);
    layout.levels.forEach((level, thought) => {
      size[level - 1] += HELD_OUT;
      const from = (layout.inputs + thought) * HELD_OUT;
      for (let b = from; b < from + HELD_OUT; b++) if (own[b] === tokens[b]) right[level - 1] += 1;
    });
    const shares = right.map((each, i) => each / size[i]);
    const metrics: Record<string, number> = { "rolled.answer": shares[layout.depth - 1], exact: Number(shares.every((share) => share === 1)) };
    shares.forEach((share, i) => (metrics[`rolled.level.${i + 1}`] = share));
    const first = this.kids.filter((_, thought) => layout.levels[thought] === 1);
    const mass = first.map((pair, row) => pair.reduce((sum, place) => sum + this.model.attention[row * layout.positions + place], 0));
    metrics["mass.1"] = mass.reduce((sum, each) => sum + each, 0) / mass.length;
    this.measured.push({ step: this.updates, metrics });
  }

  picture(): Picture {
    return { attention: this.model.attention, kids: this.kids.flat(), update: this.updates };
  }
}
