// In a real browser (CHROMIUM, else /usr/bin/chromium): every exhibit starts and learns, hostile links and absurd values get a
// sentence, nothing leaves the page. Run with: node --test tests/browser.mjs
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const index = pathToFileURL(join(here, "..", "..", "src", "sorites", "playground", "index.html")).href;
const LEARNS = { // what the status says once the default settings have been learned
  "log-icot": /Log-ICoT 4 of 4.*answer alone 0 of 4/,
  "rl-sft": /process reward 3 of 3 \(after 1\), SFT, own thoughts 3 of 3 \(after 2\), SFT, teacher forcing 3 of 3 \(after 1\), RL, outcome reward 0 of 3/,
  "kim-suzuki": /teacher forcing 2 of 2, own chain, filtered 2 of 2, own chain, no filter 0 of 2/,
  lego: /two steps: (20|40|80);.*at 16: 160/,
};
const LONG = 50; // ms; a person feels a task of the main thread that is longer
const TRIALS = 3; // a machine shared with others may stand still for a moment, a page that computes by itself does so every time
const BOUND = 60_000; // ms for one exhibit, on a core that the browser shares with itself

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
});
after(() => browser.close());

/** A page that fails the test on any error or request of its own. */
async function opened(hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
  page.on("request", (request) => /^(file|blob|data):/.test(request.url()) || page.errors.push(`request to ${request.url()}`));
  await page.goto(index + hash);
  await page.waitForSelector("#panels canvas, #refusals p");
  return page;
}

async function closed(page) {
  assert.deepEqual(page.errors, []);
  await page.context().close();
}

const finished = (page) => page.waitForFunction(() => document.body.dataset.finished === "true", null, { timeout: BOUND });
const updates = (page) => page.evaluate(() => Number(document.body.dataset.updates));

/** An exhibit at its default settings until it is done: what it says, and how long its computing and the main thread's tasks took, in ms. */
async function learned(exhibit) {
  const page = await opened(`#exhibit=${exhibit}`);
  const client = await page.context().newCDPSession(page);
  const tasks = [];
  client.on("Tracing.dataCollected", ({ value }) => tasks.push(...value.filter(({ name }) => name === "RunTask" || name === "thread_name")));
  await client.send("Tracing.start", { categories: "toplevel,disabled-by-default-devtools.timeline,devtools.timeline,__metadata" });
  await page.click("#play");
  await finished(page);
  const ended = new Promise((resolve) => client.once("Tracing.tracingComplete", resolve));
  await client.send("Tracing.end");
  await ended;
  const status = await page.textContent("#status");
  const computed = 1000 * await page.evaluate(() => Number(document.body.dataset.seconds));
  const main = new Set(tasks.filter(({ args }) => args?.name === "CrRendererMain").map(({ pid, tid }) => `${pid} ${tid}`));
  const own = tasks.filter(({ name, pid, tid }) => name === "RunTask" && main.has(`${pid} ${tid}`));
  assert.ok(own.length > 20, "the trace has the main thread's tasks");
  await closed(page);
  // Time of the thread itself, where the browser gives it: on one core the worker interrupts the main thread.
  return { status, computed, taken: own.map(({ dur = 0, tdur }) => (tdur ?? dur) / 1000) };
}

for (const [exhibit, wanted] of Object.entries(LEARNS)) {
  test(`${exhibit} starts, learns, and keeps the main thread free`, { timeout: TRIALS * BOUND }, async (t) => {
    let share = Infinity;
    for (let trial = 1; trial <= TRIALS && share >= 0.02; trial++) {
      const { status, computed, taken } = await learned(exhibit);
      assert.match(status, wanted);
      t.diagnostic(`${status} Longest task of the main thread: ${Math.max(...taken).toFixed(1)} ms`);
      share = taken.reduce((sum, each) => sum + Math.max(0, each - LONG), 0) / computed;
    }
    assert.ok(share < 0.02, `beyond ${LONG} ms, tasks hold the main thread up for ${share.toFixed(3)} of the time of computing`);
  });
}

test("Log-ICoT at default settings computes for less than 3 s until it is solved", { timeout: BOUND }, async (t) => {
  const page = await opened("#exhibit=log-icot&seeds=1");
  assert.equal(await page.inputValue("#set-bits + .number"), "16");
  await page.click("#play");
  await page.waitForFunction(() => /Log-ICoT 1 of 1/.test(document.getElementById("status").textContent), null, { timeout: BOUND });
  const seconds = await page.evaluate(() => Number(document.body.dataset.seconds));
  t.diagnostic(`all four curricula of one seed: ${seconds} s`);
  assert.ok(seconds < 3, `${seconds} s`);
  await closed(page);
});

test("hostile links get a sentence and a page that runs", { timeout: BOUND }, async () => {
  for (const [hash, wanted] of [
    ["#exhibit=__proto__&bits=8", /an exhibit is one of/],
    ["#exhibit=constructor", /an exhibit is one of/],
    ["#bits=1e999&sparsity=7&rate=NaN&seeds=-4&batch=0x10000000", /bits is a whole number from 4 to 32: bits=1e999; 32 is used/],
    ["#exhibit=lego&action=<img src=x onerror=alert(1)>", /action is one of/],
    ["#exhibit=lego&nonsense=1", /lego has no setting nonsense; it is ignored/],
    [`#${"bits=8&".repeat(2000)}`, /a link has at most 2000 characters/],
    ["#exhibit=rl-sft&bits=4&sparsity=16", /the secret's bits are among the inputs: sparsity=16 > bits=4/],
    ["#%E0%A4%A&bits=%zz", /no setting/],
  ]) {
    const page = await opened(hash);
    assert.match(await page.textContent("#refusals"), wanted, hash.slice(0, 60));
    assert.equal(await page.locator("#refusals img").count(), 0);
    if (!/among/.test(wanted.source)) {
      await page.click("#step");
      await page.waitForFunction(() => document.body.dataset.updates === "1");
    }
    await closed(page);
  }
});

test("absurd values of a slider get a sentence", { timeout: BOUND }, async () => {
  const page = await opened();
  for (const [value, kept] of [["1e99", "32"], ["-3", "4"], ["", "16"], ["seven", "16"], ["12.4", "12"], ["9", "9"]]) {
    await page.fill("#set-bits + .number", value);
    await page.press("#set-bits + .number", "Enter");
    await page.waitForFunction((kept) => document.querySelector("#set-bits + .number").value === kept, kept);
    const said = await page.textContent("#refusals");
    if (value === "9") assert.equal(said, "");
    else assert.match(said, /bits is a whole number from 4 to 32/);
  }
  await page.fill("#set-sparsity + .number", "16");
  await page.press("#set-sparsity + .number", "Enter");
  await page.waitForFunction(() => /use a sparsity of at most 9/.test(document.getElementById("refusals").textContent));
  assert.ok(await page.isDisabled("#play"));
  await closed(page);
});

test("a link holds the whole state; Python, claims and their numbers follow it", { timeout: BOUND }, async () => {
  const page = await opened("#exhibit=log-icot");
  await page.focus("#set-bits");
  await page.keyboard.press("ArrowRight");
  const url = page.url();
  assert.match(url, /bits=17/);
  const other = await opened(new URL(url).hash);
  assert.equal(await other.inputValue("#set-bits + .number"), "17");
  assert.match(await other.textContent("#python"), /so\.Parity\(bits=17, sparsity=8\)/);
  await other.click("#claims > summary");
  await other.waitForFunction(() => document.getElementById("truth").textContent); // filled once the browser tells it is open
  const truth = await other.textContent("#truth");
  assert.match(truth, /LI-21.*Recorded by the library at quick scale, \d+ seeds: holds\..*At this size, in this page: Loss at the start, law/s);
  await closed(page);
  await closed(other);
});

test("keys and buttons: play, pause, step, reset, exhibits", { timeout: BOUND }, async () => {
  const page = await opened("#exhibit=log-icot&steps=500&seeds=12");
  await page.keyboard.press(".");
  await page.waitForFunction(() => document.body.dataset.updates === "1");
  await page.keyboard.press(" ");
  await page.waitForFunction(() => Number(document.body.dataset.updates) > 3);
  await page.keyboard.press(" ");
  await page.waitForTimeout(300);
  const paused = await updates(page);
  await page.waitForTimeout(300);
  assert.equal(await updates(page), paused);
  await page.keyboard.press("r");
  await page.waitForFunction(() => document.body.dataset.updates === "0");
  await page.keyboard.press("4");
  assert.match(page.url(), /exhibit=lego/);
  assert.equal(await page.textContent("#title"), "LEGO");
  await page.fill("#speed", "10"); // ten updates a second
  await page.click("#play");
  await page.waitForTimeout(1000);
  assert.ok((await updates(page)) <= 15);
  await closed(page);
});

test("a phone has no sideways scrolling, in light and dark", { timeout: BOUND }, async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const exhibit of Object.keys(LEARNS)) {
      const page = await opened(`#exhibit=${exhibit}${exhibit === "kim-suzuki" ? "&samples=10000" : ""}`, { viewport: { width: 390, height: 844 }, colorScheme, hasTouch: true, isMobile: true });
      await page.click("#step");
      await page.waitForFunction(() => document.body.dataset.updates === "1");
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, exhibit);
      await closed(page);
    }
  }
});
