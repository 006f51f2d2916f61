/** What tests/python.mjs prints: the script of every exhibit at a small size. */
import { LIST } from "../src/exhibits";
import { defaults } from "../src/exhibits/settings";

const SMALL: Record<string, Record<string, number | string>> = {
  "log-icot": { bits: 8, sparsity: 4, steps: 25, batch: 32, seeds: 2 },
  "rl-sft": { bits: 6, sparsity: 4, updates: 2, samples: 500, seeds: 2 },
  "kim-suzuki": { bits: 8, sparsity: 4, samples: 10_000, strings: 8, seeds: 2 },
  lego: { action: "C3", steps: 10, self_steps: 10, stages: 1, batch: 32, samples: 20 },
};

console.log(JSON.stringify(Object.fromEntries(LIST.map((exhibit) => [exhibit.slug, exhibit.python({ ...defaults(exhibit.settings), ...SMALL[exhibit.slug] })]))));
