// Screenshots to look at: node tests/shots.mjs FOLDER [exhibit ...]
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const page_url = `file://${join(here, "..", "..", "src", "sorites", "playground", "index.html")}`;
const [folder = "shots", ...wanted] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
for (const exhibit of wanted.length ? wanted : ["log-icot", "rl-sft", "kim-suzuki", "lego"]) {
  for (const [name, width, height, scheme] of [["laptop", 1280, 800, "light"], ["phone", 390, 844, "dark"]]) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, deviceScaleFactor: 1 });
    const page = await context.newPage();
    page.on("console", (message) => console.log(exhibit, message.text()));
    page.on("pageerror", (error) => console.log(exhibit, String(error)));
    await page.goto(`${page_url}#exhibit=${exhibit}&seeds=2`);
    await page.click("#play");
    await page.waitForFunction(() => document.body.dataset.finished === "true", null, { timeout: 90_000 }).catch(() => console.log(exhibit, "did not finish"));
    if (name === "laptop") await page.click("#claims > summary");
    await page.waitForTimeout(200);
    console.log(exhibit, name, await page.textContent("#status"), await page.evaluate(() => document.documentElement.scrollWidth));
    await page.screenshot({ path: join(folder, `${exhibit}-${name}.png`), fullPage: true });
    await context.close();
  }
}
await browser.close();
