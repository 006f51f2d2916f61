// Prints "show me the Python" of every exhibit at a small size, for the library's tests to run.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const source = join(dirname(fileURLToPath(import.meta.url)), "python.ts");
const made = await build({ entryPoints: [source], bundle: true, platform: "node", format: "esm", write: false, logLevel: "warning" });
await import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].text).toString("base64")}`);
