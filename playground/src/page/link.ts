/** The whole state in the link: #exhibit=log-icot&bits=16&... Whatever a link says, the page gets a state it can run. */
import { EXHIBITS, LIST } from "../exhibits";
import { accepted, defaults } from "../exhibits/settings";
import type { State } from "../exhibits/types";

export interface Told {
  exhibit: string;
  state: State;
  refusals: string[]; // sentences about what could not be taken as it was
}

const MOST = 2000; // characters that a link of this page can have

export function told(hash: string): Told {
  const refusals: string[] = [];
  const text = hash.replace(/^#/, "");
  if (text.length > MOST) refusals.push(`a link has at most ${MOST} characters: this one has ${text.length}; the defaults are used`);
  const words = new URLSearchParams(text.length > MOST ? "" : text);
  const named = words.get("exhibit");
  if (named !== null && !Object.hasOwn(EXHIBITS, named)) {
    refusals.push(`an exhibit is one of ${LIST.map(({ slug }) => slug).join(", ")}: exhibit=${named.slice(0, 40)}; ${LIST[0].slug} is shown`);
  }
  const exhibit = named !== null && Object.hasOwn(EXHIBITS, named) ? EXHIBITS[named] : LIST[0];
  const state = defaults(exhibit.settings);
  for (const [name, value] of words) {
    if (name === "exhibit") continue;
    const setting = exhibit.settings.find((each) => each.name === name);
    if (!setting) {
      refusals.push(`${exhibit.slug} has no setting ${name.slice(0, 40)}; it is ignored`);
      continue;
    }
    const taken = accepted(setting, value);
    state[name] = taken.value;
    if (taken.refusal) refusals.push(taken.refusal);
  }
  return { exhibit: exhibit.slug, state, refusals: refusals.slice(0, 5) };
}

export function linked(exhibit: string, state: State): string {
  return `#${new URLSearchParams({ exhibit, ...Object.fromEntries(Object.entries(state).map(([name, value]) => [name, String(value)])) })}`;
}
