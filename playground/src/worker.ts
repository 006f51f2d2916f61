/** Trains off the main thread: members in lockstep, a frame at most every 50 ms. */
import { EXHIBITS } from "./exhibits/members";
import type { Member, Picture, Point, State } from "./exhibits/types";

export type Order =
  | { kind: "start"; run: number; exhibit: string; state: State }
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
const SLICE = 12; // ms of computing between looks at the orders

let places: Place[] = [];
let run = 0;
let next = 0; // the place that advances next
let speed = 0;
let playing = false;
let seconds = 0;
let updates = 0;
let sent = 0;
let owed = 0; // updates that the speed allows now
let asked = 0;
let waiting = false;

function post(): void {
  const frame: Frame = {
    run, points: [], pictures: {}, seconds, updates, finished: places.length > 0 && places.every(({ member }) => member.finished),
  };
  for (const { arm, seed, member } of places) {
    if (member.measured.length) frame.points.push({ arm, seed, points: member.measured.splice(0) });
    frame.pictures[arm] ??= member.picture(); // of the first seed
  }
  sent = performance.now();
  self.postMessage(frame);
}

/** Every member that is not finished advances once. */
function sweep(): void {
  const begun = performance.now();
  for (const { member } of places) if (!member.finished) member.advance();
  updates += 1;
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
    const place = places[next];
    if (place && !place.member.finished) {
      const start = performance.now();
      place.member.advance();
      seconds += (performance.now() - start) / 1000;
    }
    next = (next + 1) % places.length;
    if (next === 0) {
      updates += 1;
      owed -= 1;
      if (places.every(({ member }) => member.finished)) {
        playing = false;
        post();
        return;
      }
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
    const exhibit = EXHIBITS[order.exhibit]!;
    ({ run } = order);
    const { state } = order;
    const first = Number(state.seed);
    const seeds = Array.from({ length: Number(state.seeds) }, (_, i) => first + i);
    playing = false;
    places = seeds.flatMap((seed) => exhibit.arms(state).map(({ slug }) => ({ arm: slug, seed, member: exhibit.member(state, slug, seed) })));
    next = seconds = updates = owed = 0;
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
    while (next !== 0) { // finish the sweep that playing had begun
      const { member } = places[next]!;
      if (!member.finished) member.advance();
      next = (next + 1) % places.length;
    }
    sweep();
    post();
  }
}

self.onmessage = ({ data }: MessageEvent<Order>): void => {
  try {
    obey(data);
  } catch (error) {
    playing = false;
    places = [];
    self.postMessage({ run, points: [], pictures: {}, finished: true, seconds, updates, failed: String(error) } satisfies Frame);
  }
};
