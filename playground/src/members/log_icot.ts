/** The gated transformer on k-parity under one curriculum. */
import { type Curriculum, type Lesson, lessons, shares } from "../core/curricula";
import { Model, Work } from "../core/model";
import { Random } from "../core/random";
import { Updater } from "../core/rules";
import { boolean, children, sample, type Task } from "../core/tasks";
import { internalise } from "../core/teaching";
import { type Member, type Picture, type Point, type State, whole } from "../exhibits/types";

const EVERY = 10; // updates between two looks
export const HELD_OUT = 1000; // chains

export const taskOf = (state: State): Task => boolean(whole(state, "bits"), whole(state, "sparsity"));

export class Internalising implements Member {
  measured: Point[] = [];
  private readonly model: Model;
  private readonly kids: [number, number][];
  private readonly plan: Lesson[];
  private readonly lengths: number[];
  private readonly random: Random;
  private readonly work: Work;
  private readonly own: Float64Array;
  private readonly test: { tokens: Float64Array; own: Float64Array; work: Work };
  private updater!: Updater;
  private stage = -1;
  private left = 0;
  updates = 0;
  private solved = NaN;

  constructor(private readonly state: State, curriculum: Curriculum, seed: number) {
    const task = taskOf(state);
    this.task = task;
    this.random = new Random(seed, 1);
    this.kids = children(task, this.random.subset(task.bits, task.sparsity));
    this.model = new Model(task.layout, "cosine", "lower-levels");
    this.plan = lessons(task.layout, curriculum);
    this.lengths = shares(whole(state, "steps") * task.layout.depth, this.plan.length);
    const batch = whole(state, "batch");
    this.work = new Work(task.layout, batch);
    this.own = new Float64Array(task.layout.positions * batch);
    const tokens = sample(task, this.kids, new Random(seed, 2), HELD_OUT);
    this.test = { tokens, own: tokens.slice(), work: new Work(task.layout, HELD_OUT) };
    this.enter();
  }

  private readonly task: Task;

  get finished(): boolean {
    return this.stage >= this.plan.length;
  }

  private enter(): void {
    this.stage += 1;
    if (this.finished) return;
    this.left = this.lengths[this.stage];
    this.updater = new Updater({ kind: "adamw", rate: whole(this.state, "rate"), decay: whole(this.state, "decay") }, this.model.weights.length);
    this.measure(true);
  }

  advance(): void {
    const batch = sample(this.task, this.kids, this.random, this.work.count);
    internalise(this.model, this.plan[this.stage], batch, this.own, this.work);
    this.updater.apply(this.model.weights, this.model.gradient);
    this.model.attend();
    this.updates += 1;
    this.left -= 1;
    if (this.updates % EVERY === 0 || this.left === 0) this.measure(false);
    if (this.left === 0) this.enter();
  }

  /** On held-out chains: the stage's own loss; then every layer on the inputs alone, for the answer. */
  private measure(entering: boolean): void {
    const { tokens, own, work } = this.test;
    const { layout } = this.task;
    const loss = internalise(this.model, this.plan[this.stage], tokens, own, work, false);
    this.model.write(own, work);
    let right = 0;
    for (let b = 0; b < HELD_OUT; b++) if (own[(layout.positions - 1) * HELD_OUT + b] * tokens[(layout.positions - 1) * HELD_OUT + b] > 0) right++;
    if (right === HELD_OUT && Number.isNaN(this.solved)) this.solved = this.updates;
    const metrics: Record<string, number> = { "own.loss": loss, "padded.answer": right / HELD_OUT, solved: this.solved };
    if (entering) metrics[`start.${this.stage + 1}`] = loss;
    this.measured.push({ step: this.updates, metrics });
  }

  picture(): Picture {
    const stage = Math.min(this.stage, this.plan.length - 1);
    return {
      attention: this.model.attention, kids: this.kids.flat(), stage: stage + 1, stages: this.plan.length,
      removed: this.plan[stage].removed,
    };
  }
}
