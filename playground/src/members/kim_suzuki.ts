/** Kim and Suzuki's one step with teacher forcing, or their log2 k rounded steps on the own chain, filtered or not. */
import { released } from "../core/filter";
import { Model, roomFor, Work } from "../core/model";
import { Random } from "../core/random";
import { Updater } from "../core/rules";
import { loss } from "../core/signals";
import { boolean, children, drawInputs, sample, type Task } from "../core/tasks";
import { type Member, type Picture, type Point, type State, whole } from "../exhibits/types";

const BLOCK = 512; // chains that are read at once; an update goes over all samples block by block
export const HELD_OUT = 1000; // chains
const CURVATURE = Math.PI ** 2 / 2; // c of the cosine link

export const taskOf = (state: State): Task => boolean(whole(state, "bits"), whole(state, "sparsity"));

export class Stepping implements Member {
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
    return Float64Array.from(this.task.layout.levels, (level) => this.passes[level - 1]);
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
    const work = roomFor(layout, count);
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
      if (own[b] * this.test[b] > 0) right++;
      error = Math.max(error, Math.abs(own[b] - this.test[b]));
    }
    const mass = this.kids.map(([a, b], row) => this.model.attention[row * layout.positions + a] + this.model.attention[row * layout.positions + b]);
    const onPattern = Number(this.passes.every((pass, i) => pass === Number(i + 1 <= this.updates + 1)));
    this.history.push(...this.passes);
    this.measured.push({ step: this.updates, metrics: { "soft.answer": right / HELD_OUT, "soft.error": error, mass: Math.min(...mass), pattern: onPattern } });
  }

  picture(): Picture {
    const whole = this.kids.flatMap(([a, b], row) => [a, b].map((place) => this.model.weights[row * this.task.layout.positions + place]));
    return {
      attention: this.model.attention, kids: this.kids.flat(), update: this.updates, updates: this.wanted, passes: this.history,
      weights: whole, share: this.done / Number(this.state.samples),
    };
  }
}
