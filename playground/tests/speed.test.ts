/** At default settings Log-ICoT solves within 3 s of computing, and the diamonds lie on the curve. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startLoss } from "../src/core/law";
import { logIcot } from "../src/exhibits/log_icot";
import { MEMBERS } from "../src/members";
import { defaults } from "../src/exhibits/settings";

test("Log-ICoT at n=16, k=8 solves within 3 s, on its law", () => {
  const state = defaults(logIcot.settings);
  assert.equal(`${state.bits} ${state.sparsity}`, "16 8");
  const begun = performance.now();
  let solved = 0;
  const starts: number[][] = [[], [], []];
  for (let seed = 0; seed < 3; seed++) {
    const member = MEMBERS["log-icot"](state, "log-icot", seed);
    while (!member.finished) member.advance();
    const last = member.measured[member.measured.length - 1];
    if (last.metrics["padded.answer"] === 1) solved += 1;
    for (const { metrics } of member.measured) starts.forEach((row, i) => `start.${i + 1}` in metrics && row.push(metrics[`start.${i + 1}`]));
  }
  const seconds = (performance.now() - begun) / 1000;
  assert.equal(solved, 3);
  assert.ok(seconds < 3, `three seeds took ${seconds} s`);
  starts.forEach((row, i) => {
    const law = startLoss(16, 8, i + 1);
    const mean = row.reduce((a, b) => a + b) / row.length;
    assert.ok(Math.abs(mean / law - 1) < 0.05, `stage ${i + 1}: ${mean} against ${law}`); // 5 %: LI-21's bar for trained lower layers
  });
  console.log(`three seeds: ${seconds.toFixed(2)} s`);
});
