/** LEGO's four numbers: two-step sentences, then sentences that the model has labelled itself. */
import { type Action, actionNamed } from "../core/actions";
import { Random } from "../core/random";
import { chained, descend, type Features, ideal, masses, rollout, type Scores, type Sentences, twoSteps } from "../core/routing";
import { type Member, type Picture, type Point, type State, whole } from "../exhibits/types";

export const LENGTHS = [5, 10, 20, 40, 80, 160];
export const RATE = 0.1;
export const SLOWING = 100;

export class Routing implements Member {
  measured: Point[] = [];
  private readonly action: Action;
  private readonly features: Features;
  private readonly scores: Scores = new Float64Array(4);
  private readonly random: Random;
  private readonly enumerated: Sentences;
  private annotator: Scores = new Float64Array(4);
  private stage = 0; // 0: two-step sentences; s: self-training at length 2^(s+1)
  private number = 0; // within the stage
  updates = 0;
  private looking = -1; // the length that is being rolled out, as a place in LENGTHS

  constructor(private readonly state: State, seed: number) {
    this.action = actionNamed(String(state.action));
    this.features = ideal(this.action, whole(state, "variables"), whole(state, "clipping"));
    this.enumerated = twoSteps(this.action);
    this.random = new Random(seed, 1);
    this.measure(NaN);
  }

  get finished(): boolean {
    return this.stage > whole(this.state, "stages");
  }

  private draw(length: number): { actions: number[]; start: number } {
    const actions = Array.from({ length }, () => this.random.below(this.action.table.length));
    return { actions, start: this.random.below(this.features.values) };
  }

  /** One update, or, at the end of a stage, the rollouts of one length. */
  advance(): void {
    if (this.looking >= 0) { this.roll(); return; }
    const loss = descend(this.features, this.scores, this.batch(), this.terms(), whole(this.state, "variables"), this.number, RATE, SLOWING);
    this.number += 1;
    this.updates += 1;
    this.measure(loss);
    if (this.number >= whole(this.state, this.stage ? "self_steps" : "steps")) this.looking = 0;
  }

  private terms(): number[] {
    return this.stage === 0 && this.action.simple ? [1, 2] : [2];
  }

  /** All two-step sentences; later fresh ones whose first two answers the frozen earlier self has written. */
  private batch(): Sentences {
    if (this.stage === 0) return this.enumerated;
    const found: Sentences = { actions: [], values: [] };
    for (let i = 0; i < whole(this.state, "batch"); i++) {
      const { actions, start } = this.draw(2 ** (this.stage + 1));
      found.actions.push(actions);
      found.values.push([start, ...rollout(this.features, this.annotator, actions, start, 2)]);
    }
    return found;
  }

  private measure(loss: number): void {
    const { share, error } = masses(this.scores, 2, 2);
    const metrics: Record<string, number> = { error, gap: share[0] - share[2] };
    if (!Number.isNaN(loss)) metrics.loss = loss;
    this.scores.forEach((score, i) => (metrics[`score.${i}`] = score));
    this.measured.push({ step: this.updates, metrics });
  }

  /** The share of sentences with every value right in a greedy rollout. */
  private roll(): void {
    const length = LENGTHS[this.looking];
    const samples = whole(this.state, "samples");
    let right = 0;
    for (let i = 0; i < samples; i++) {
      const { actions, start } = this.draw(length);
      const truth = chained(this.action, actions, start);
      if (rollout(this.features, this.scores, actions, start).every((value, step) => value === truth[step + 1])) right++;
    }
    this.measured.push({ step: this.updates, metrics: { [`right.${this.stage}.${length}`]: right / samples } });
    this.looking += 1;
    if (this.looking < LENGTHS.length) return;
    this.looking = -1;
    this.annotator = this.scores.slice();
    this.stage += 1;
    this.number = 0;
  }

  picture(): Picture {
    return { scores: Float64Array.from(this.scores), stage: this.stage };
  }
}
