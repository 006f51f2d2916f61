/** A labelled slider or choice for each setting. The shaded part of a track is the domain of a claim. */
import { accepted, nearest } from "../exhibits/settings";
import type { Setting, State } from "../exhibits/types";

const NOTCHES = 1000; // of a slider over real numbers

function notch(setting: Setting, value: number): number {
  if (setting.kind === "powers") return Math.log2(value);
  if (setting.kind === "whole") return value;
  const { low, high } = setting;
  return Math.round(NOTCHES * (setting.log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)));
}

function valueAt(setting: Setting, at: number): number {
  if (setting.kind === "powers") return 2 ** at;
  if (setting.kind === "whole") return nearest(setting, at);
  const { low, high } = setting;
  const value = setting.log ? low * (high / low) ** (at / NOTCHES) : low + ((high - low) * at) / NOTCHES;
  return nearest(setting, Number(value.toPrecision(3)));
}

export function controls(settings: Setting[], state: State, changed: (state: State, refusal: string | null) => void): HTMLElement[] {
  return settings.map((setting) => {
    const row = document.createElement("div");
    row.className = "setting";
    const label = document.createElement("label");
    label.textContent = setting.label;
    label.htmlFor = `set-${setting.name}`;
    let refresh = (): void => undefined;
    const give = (text: string): void => {
      const taken = accepted(setting, text);
      state[setting.name] = taken.value;
      refresh();
      changed(state, taken.refusal);
    };
    if (setting.kind === "choice") {
      const select = document.createElement("select");
      select.id = `set-${setting.name}`;
      select.append(...setting.choices.map((each) => new Option(each, each, false, each === state[setting.name])));
      select.onchange = () => give(select.value);
      row.append(label, select);
      refresh = () => void (select.value = String(state[setting.name]));
      return row;
    }
    const range = document.createElement("input");
    range.type = "range";
    range.id = `set-${setting.name}`;
    range.min = String(notch(setting, setting.low));
    range.max = String(notch(setting, setting.high));
    range.step = setting.kind === "whole" ? String(setting.step) : "1";
    const number = document.createElement("input");
    number.type = "text";
    number.inputMode = "decimal";
    number.className = "number";
    number.setAttribute("aria-label", `${setting.label}, typed`);
    number.size = 7;
    refresh = () => {
      range.value = String(notch(setting, Number(state[setting.name])));
      number.value = String(state[setting.name]);
      range.setAttribute("aria-valuetext", number.value);
    };
    range.oninput = () => {
      number.value = String(valueAt(setting, Number(range.value)));
    };
    range.onchange = () => give(String(valueAt(setting, Number(range.value))));
    number.onchange = () => give(number.value);
    if (setting.domain) {
      const span = notch(setting, setting.high) - notch(setting, setting.low) || 1;
      const at = (value: number): number => (100 * (notch(setting, Math.min(Math.max(value, setting.low), setting.high)) - notch(setting, setting.low))) / span;
      range.style.setProperty("--from", `${at(setting.domain.low)}%`);
      range.style.setProperty("--to", `${at(setting.domain.high)}%`);
      row.title = `shaded: ${setting.domain.low} to ${setting.domain.high}, where ${setting.domain.claim} is meant to hold`;
    }
    refresh();
    row.append(label, range, number);
    return row;
  });
}
