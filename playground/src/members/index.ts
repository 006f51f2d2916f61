/** A member of an exhibit: what the worker trains. */
import type { Curriculum } from "../core/curricula";
import type { Method } from "../core/teaching";
import type { Member, State } from "../exhibits/types";
import { Stepping } from "./kim_suzuki";
import { Routing } from "./lego";
import { Internalising } from "./log_icot";
import { Rewarded } from "./rl_sft";

export const MEMBERS: Record<string, (state: State, arm: string, seed: number) => Member> = {
  "log-icot": (state, arm, seed) => new Internalising(state, arm as Curriculum, seed),
  "rl-sft": (state, arm, seed) => new Rewarded(state, arm as Method, seed),
  "kim-suzuki": (state, arm, seed) => new Stepping(state, arm, seed),
  lego: (state, _, seed) => new Routing(state, seed),
};
