/** The page: one exhibit at a time, trained in a worker, drawn here, its whole state in the link. */
import { EXHIBITS, LIST } from "../exhibits";
import type { Exhibit, Panel, State } from "../exhibits/types";
import type { Frame, Order } from "../worker";
import { controls } from "./controls";
import { look } from "./canvas";
import { chart, legend } from "./chart";
import { grid } from "./grid";
import { History } from "./history";
import { linked, told } from "./link";
import { truth } from "./truth";

declare const WORKER: string; // the bundled worker, put in by build.mjs: from disk a page may not load a second script into a worker

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- ids of our own page: the caller knows the element
const found = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
const order = (what: Order): void => worker.postMessage(what);
const TOP = 40; // the notch of the speed slider that means all the core gives

let exhibit: Exhibit = LIST[0];
let state: State = {};
let history = new History(1);
let run = 0;
let playing = false;
let last: Frame | null = null;
let drawing = false;
let figures: Shown[] = [];
let tell = 0; // when the status was last read aloud

function speed(): number {
  const notch = Number(found<HTMLInputElement>("speed").value);
  return notch >= TOP ? Infinity : 10 ** (notch / 10);
}

function say(sentences: string[]): void {
  const box = found("refusals");
  box.replaceChildren(...sentences.map((sentence) => Object.assign(document.createElement("p"), { textContent: sentence })));
  box.hidden = sentences.length === 0;
}

function setPlaying(now: boolean): void {
  playing = now;
  const button = found<HTMLButtonElement>("play");
  button.textContent = now ? "Pause" : "Play";
  button.setAttribute("aria-pressed", String(now));
  order(now ? { kind: "play", speed: speed() } : { kind: "pause" });
}

/** Starts anew from the settings; a refusal stops it with a sentence. */
function restart(sentences: string[] = []): void {
  const wasPlaying = playing && !last?.finished;
  const refusal = exhibit.refuses(state);
  run += 1;
  history = new History(Number(state.seeds));
  last = null;
  location.replace(linked(exhibit.slug, state));
  say(refusal ? [...sentences, refusal] : sentences);
  found<HTMLButtonElement>("play").disabled = found<HTMLButtonElement>("step").disabled = refusal !== null;
  found("python").textContent = exhibit.python(state);
  if (refusal) {
    setPlaying(false);
    redraw();
    return;
  }
  order({ kind: "start", run, exhibit: exhibit.slug, arms: exhibit.arms(state).map(({ slug }) => slug), state });
  if (wasPlaying) setPlaying(true);
  else setPlaying(false);
}

function open(slug: string, given: State, refusals: string[]): void {
  exhibit = EXHIBITS[slug];
  state = { ...given };
  document.title = `${exhibit.title} · sorites playground`;
  found("look").textContent = exhibit.look;
  found("title").textContent = exhibit.title;
  for (const button of document.querySelectorAll<HTMLButtonElement>("#exhibits button")) {
    button.setAttribute("aria-current", String(button.dataset.slug === slug));
  }
  found("settings").replaceChildren(...controls(exhibit.settings, state, (_, refusal) => restart(refusal ? [refusal] : [])));
  figures = [];
  found("panels").replaceChildren();
  setPlaying(false);
  restart(refusals);
}

function redraw(): void {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const panels = exhibit.refuses(state) ? [] : exhibit.panels(state, history);
    place(panels);
    const colours = look();
    panels.forEach((panel, i) => show(figures[i], panel, colours));
    const text = exhibit.refuses(state) ? "" : exhibit.status(state, history);
    const clock = last ? ` ${last.updates} updates, ${last.seconds.toFixed(1)} s of computing${last.finished ? ", done." : "."}` : "";
    found("status").textContent = text + clock;
    if (last?.finished || performance.now() - tell > 5000) {
      tell = performance.now();
      found("aloud").textContent = text;
    }
    if (found<HTMLDetailsElement>("claims").open) judge();
  });
}

interface Shown {
  figure: HTMLElement;
  caption: HTMLElement;
  canvas: HTMLCanvasElement;
  key: HTMLElement;
}

/** As many figures as there are panels; canvases are kept between frames. */
function place(panels: Panel[]): void {
  if (figures.length === panels.length) return;
  figures = panels.map((panel) => {
    const figure = document.createElement("figure");
    figure.className = panel.kind;
    const caption = document.createElement("figcaption");
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    const key = document.createElement("div");
    key.className = "legend";
    figure.append(caption, canvas, key);
    return { figure, caption, canvas, key };
  });
  found("panels").replaceChildren(...figures.map(({ figure }) => figure));
}

function show({ caption, canvas, key }: Shown, panel: Panel, colours: ReturnType<typeof look>): void {
  caption.textContent = panel.title;
  canvas.setAttribute("aria-label", panel.says);
  if (panel.kind === "grid") {
    const drawn = `${panel.title} ${canvas.clientWidth} ${String(colours.dark)}`;
    if (!panel.still || canvas.dataset.drawn !== drawn) grid(canvas, panel, colours);
    canvas.dataset.drawn = drawn;
    return;
  }
  chart(canvas, panel, colours);
  const wanted = `${panel.lines.map(({ label }) => label).join()} ${String(colours.dark)}`;
  if (key.dataset.shown !== wanted) {
    key.dataset.shown = wanted;
    key.replaceChildren(...legend(panel, colours));
  }
}

function judge(): void {
  const box = found("truth");
  const open = [...box.querySelectorAll("details")].map((each) => each.open);
  const made = truth(exhibit, state, history);
  box.replaceChildren(...made);
  box.querySelectorAll("details").forEach((each, i) => (each.open = open[i] ?? false));
}

worker.onmessage = ({ data }: MessageEvent<Frame>): void => {
  if (data.run !== run) return;
  last = data;
  history.add(data);
  if (data.failed) say([`training stopped: ${data.failed}; reset, or choose other settings`]);
  if (data.finished && playing) {
    playing = false;
    found("play").textContent = "Play";
    found("play").setAttribute("aria-pressed", "false");
  }
  document.body.dataset.updates = String(data.updates);
  document.body.dataset.finished = String(data.finished);
  document.body.dataset.seconds = data.seconds.toFixed(3);
  redraw();
};

worker.onerror = (event): void => {
  event.preventDefault();
  say([`training stopped: ${event.message}; reset, or choose other settings`]);
};

function toggle(): void {
  if (exhibit.refuses(state)) return;
  if (!playing && last?.finished) restart();
  setPlaying(!playing);
}

function step(): void {
  if (exhibit.refuses(state) || last?.finished) return;
  setPlaying(false);
  order({ kind: "step" });
}

/** Where the browser lets a page: not over plain http from another machine. */
async function copy(text: string): Promise<void> {
  if ("clipboard" in navigator) await navigator.clipboard.writeText(text).catch(() => undefined);
}

function begin(): void {
  found("exhibits").append(
    ...LIST.map(({ slug, title }, i) => {
      const button = Object.assign(document.createElement("button"), { textContent: title, title: `key ${i + 1}` });
      button.dataset.slug = slug;
      button.onclick = () => {
        const fresh = told(`#exhibit=${slug}`);
        open(slug, fresh.state, []);
      };
      return button;
    }),
  );
  found("play").onclick = toggle;
  found("step").onclick = step;
  found("reset").onclick = () => {
    setPlaying(false);
    restart();
  };
  found("speed").oninput = () => {
    const now = speed();
    found("speed-shown").textContent = now === Infinity ? "full speed" : `${now < 10 ? now.toFixed(1) : Math.round(now)} updates/s`;
    if (playing) order({ kind: "play", speed: now });
  };
  found("copy").onclick = async () => {
    await copy(location.href);
    found("copy").textContent = "Link copied";
    setTimeout(() => (found("copy").textContent = "Copy link"), 1500);
  };
  found("copy-python").onclick = () => void copy(exhibit.python(state));
  found("claims").addEventListener("toggle", judge);
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("hashchange", () => {
    if (location.hash !== linked(exhibit.slug, state)) {
      const { exhibit: slug, state: given, refusals } = told(location.hash);
      open(slug, given, refusals);
    }
  });
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input[type=text], select, textarea")) return;
    const number = Number(event.key);
    if (event.key === " " && !target.matches("button, summary")) toggle();
    else if (event.key === ".") step();
    else if (event.key === "r") found("reset").click();
    else if (number >= 1 && number <= LIST.length) open(LIST[number - 1].slug, told(`#exhibit=${LIST[number - 1].slug}`).state, []);
    else return;
    event.preventDefault();
  });
  const { exhibit: slug, state: given, refusals } = told(location.hash);
  open(slug, given, refusals);
}

begin();
