/** "Is this true?": what each claim says, what became of it, where it is meant to hold, and the number at this size. */
import verdicts from "../../fixtures/verdicts.json";
import { CLAIMS, outside } from "../exhibits/settings";
import type { Exhibit, State, View } from "../exhibits/types";

interface Verdict {
  verdict: string;
  predicted: unknown;
  measured: unknown;
  erratum: { printed: string; corrected: string; printed_verdict: string } | null;
  seeds: number;
  scale: string;
}

const RECORDED = verdicts as unknown as Record<string, Verdict | undefined>;

function part(tag: string, text: string, name = ""): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = name;
  return element;
}

function number(value: unknown): string {
  if (typeof value === "number") return Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6 ? String(Number(value.toPrecision(4))) : value === 0 ? "0" : value.toExponential(1);
  return typeof value === "string" || typeof value === "boolean" ? String(value) : "–";
}

const ended = (sentence: string): string => (sentence.endsWith(".") ? sentence : `${sentence}.`);

/** Every comparison of the recorded verdict: what was predicted, what was measured. */
function comparisons({ predicted, measured }: Verdict): string[] {
  if (measured === null || typeof measured !== "object") return [`${number(predicted)} → ${number(measured)}`];
  return Object.entries(measured).map(([name, value]) => `${name}: ${number((predicted as Record<string, unknown>)[name])} → ${number(value)}`);
}

export function truth(exhibit: Exhibit, state: State, view: View): HTMLElement[] {
  const here = exhibit.here(state, view);
  return exhibit.claims.map((id) => {
    const claim = CLAIMS[id];
    const recorded = RECORDED[id];
    const article = document.createElement("article");
    const beyond = outside(id, exhibit.settings, state);
    article.append(part("h3", `${id} · ${claim.label}`), part("p", claim.says));
    if (recorded) {
      const seeds = recorded.seeds ? `, ${recorded.seeds} ${recorded.seeds === 1 ? "seed" : "seeds"}` : "";
      article.append(part("p", `Recorded by the library at ${recorded.scale} scale${seeds}: ${recorded.verdict}.`, `verdict ${recorded.verdict}`));
      const found = document.createElement("details");
      const list = document.createElement("ul");
      list.append(...comparisons(recorded).map((line) => part("li", line)));
      found.append(part("summary", "predicted → measured"), list);
      article.append(found);
      if (recorded.erratum) article.append(part("p", `The printed form ${recorded.erratum.printed_verdict}: ${ended(recorded.erratum.printed)} Corrected: ${ended(recorded.erratum.corrected)}`));
    } else {
      article.append(part("p", `No verdict is recorded here; the library judges it: sorites verify ${id}.`, "verdict"));
    }
    if (here[id]) article.append(part("p", `At this size, in this page: ${here[id]}`, "here"));
    const where = beyond ? `Outside its domain: ${beyond}.` : "Inside its domain's ranges.";
    article.append(part("p", claim.because ? `${where} It is meant to hold where ${ended(claim.because)}` : where, beyond ? "outside" : ""));
    return article;
  });
}
