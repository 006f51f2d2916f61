// Bundles the page into one static folder that opens from disk: src/sorites/playground, which the wheel carries.
import { copyFileSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "src", "sorites", "playground");
const shared = { bundle: true, minify: true, target: "es2022", format: "iife", charset: "utf8", logLevel: "warning", legalComments: "none" };

const worker = await build({ ...shared, entryPoints: [join(here, "src", "worker.ts")], write: false });
const page = await build({
  ...shared, entryPoints: [join(here, "src", "page", "main.ts")], write: false, define: { WORKER: JSON.stringify(worker.outputFiles[0].text) },
});
const style = await build({ ...shared, entryPoints: [join(here, "src", "page", "playground.css")], write: false });
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "playground.js"), page.outputFiles[0].text);
writeFileSync(join(out, "playground.css"), style.outputFiles[0].text);
copyFileSync(join(here, "src", "page", "index.html"), join(out, "index.html"));
const size = ["index.html", "playground.js", "playground.css"].reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
console.log(`${out}: ${(size / 1000).toFixed(0)} kB`);
if (size >= 300_000) {
  console.error(`a bundle is under 300 kB: ${size} bytes; leave something out`);
  process.exit(1);
}
