/** Trains off the main thread: members in lockstep, a frame at most every 50 ms. */
import type { Member, Picture, Point, State } from "./exhibits/types";
import { MEMBERS } from "./members";

export type Order =
  | { kind: "start"; run: number; exhibit: string; arms: string[]; state: State }
  | { kind: "play"; speed: number } // updates per second, Infinity for all that the core gives
  | { kind: "pause" }
  | { kind: "step" };

export interface Frame {
  run: number;
  points: { arm: string; seed: number; points: Point[] }[];
  pictures: Record<string, Picture>;
  finished: boolean;
  seconds: number; // of computing, without pauses
  updates: number;
  failed?: string;
}

interface Place {
  arm: string;
  seed: number;
  member: Member;
}

const FRAME = 50; // ms between frames
const SLICE = 30; // ms of computing between looks at the orders

let places: Place[] = [];
let run = 0;
let next = 0; // the place that advances next
let speed = 0;
let playing = false;
let seconds = 0;
let sent = 0;
let owed = 0; // updates that the speed allows now
let asked = 0;
let waiting = false;
let seen = 0; // updates when this sweep over the members began

/** Of the member that is furthest. */
const updates = (): number => Math.max(0, ...places.map(({ member }) => member.updates));

function post(): void {
  const frame: Frame = {
    run, points: [], pictures: {}, seconds, updates: updates(), finished: places.length > 0 && places.every(({ member }) => member.finished),
  };
  for (const { arm, seed, member } of places) {
    if (member.measured.length) frame.points.push({ arm, seed, points: member.measured.splice(0) });
    frame.pictures[arm] ??= member.picture(); // of the first seed
  }
  sent = performance.now();
  self.postMessage(frame);
}

function advance(member: Member): void {
  if (member.finished) return;
  const begun = performance.now();
  member.advance();
  seconds += (performance.now() - begun) / 1000;
}

/** One member after another, so that a slice stays short whatever a member's advance takes. */
function slice(): void {
  waiting = false;
  if (!playing) return;
  const begun = performance.now();
  owed = speed === Infinity ? Infinity : Math.min(owed + (speed * (begun - asked)) / 1000, Math.max(1, speed / 10));
  asked = begun;
  while (owed >= 1 && performance.now() - begun < SLICE) {
    if (next === 0) seen = updates();
    advance(places[next].member);
    next = (next + 1) % places.length;
    if (next > 0) continue;
    owed -= updates() - seen;
    if (places.every(({ member }) => member.finished)) {
      playing = false;
      post();
      return;
    }
  }
  if (performance.now() - sent >= FRAME) post();
  again();
}

function again(): void {
  if (waiting) return;
  waiting = true;
  setTimeout(slice, speed === Infinity ? 0 : 15);
}

function obey(order: Order): void {
  if (order.kind === "start") {
    const { exhibit, state, arms } = order;
    ({ run } = order);
    const first = Number(state.seed);
    const seeds = Array.from({ length: Number(state.seeds) }, (_, i) => first + i);
    playing = false;
    places = seeds.flatMap((seed) => arms.map((arm) => ({ arm, seed, member: MEMBERS[exhibit](state, arm, seed) })));
    next = seconds = owed = 0;
    post();
  } else if (order.kind === "play") {
    ({ speed } = order);
    playing = places.length > 0;
    asked = performance.now();
    again();
  } else if (order.kind === "pause") {
    playing = false;
    post();
  } else {
    playing = false;
    const wanted = updates() + (next === 0 ? 1 : 0); // a sweep that playing had begun is finished first
    for (const { member } of places) while (!member.finished && member.updates < wanted) advance(member);
    next = 0;
    post();
  }
}

self.onmessage = ({ data }: MessageEvent<Order>): void => {
  try {
    obey(data);
  } catch (error) {
    playing = false;
    places = [];
    self.postMessage({ run, points: [], pictures: {}, finished: true, seconds, updates: 0, failed: String(error) } satisfies Frame);
  }
};
