// Bundles every tests/*.test.ts and runs it under node's own test runner.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(here).filter((name) => name.endsWith(".test.ts") && (!wanted.length || wanted.some((word) => name.includes(word))));
const out = mkdtempSync(join(tmpdir(), "playground-"));
await build({
  entryPoints: files.map((name) => join(here, name)), outdir: out, outExtension: { ".js": ".mjs" },
  bundle: true, platform: "node", format: "esm", logLevel: "warning",
});
const done = spawnSync(process.execPath, ["--test", "--test-reporter=spec", ...files.map((name) => join(out, name.replace(/ts$/, "mjs")))], { stdio: "inherit" });
rmSync(out, { recursive: true });
process.exit(done.status ?? 1);
