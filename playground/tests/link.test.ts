/** Whatever a link says, the page gets a state that it can run, and says what it changed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { EXHIBITS, LIST } from "../src/exhibits";
import { accepted, CLAIMS, defaults, outside } from "../src/exhibits/settings";
import { Random } from "../src/core/random";
import { linked, told } from "../src/page/link";

test("a state comes back from its link, for every exhibit", () => {
  for (const { slug, settings } of LIST) {
    const state = defaults(settings);
    assert.deepEqual(told(linked(slug, state)), { exhibit: slug, state, refusals: [] });
  }
});

test("defaults are values that the settings accept, inside the domains that the sliders show", () => {
  for (const exhibit of LIST) {
    const { slug, settings } = exhibit;
    const state = defaults(settings);
    assert.equal(exhibit.refuses(state), null);
    for (const setting of settings) {
      assert.equal(accepted(setting, String(setting.value)).refusal, null, `${slug} ${setting.name}`);
      if (setting.domain) {
        assert.ok(setting.low <= setting.domain.low && setting.domain.high <= setting.high, `${slug} ${setting.name}`);
        assert.ok(setting.domain.low <= Number(setting.value) && Number(setting.value) <= setting.domain.high, `${slug} ${setting.name}`);
      }
    }
  }
});

test("random texts as links never throw, and every state is accepted", () => {
  const random = new Random(1);
  const words = ["exhibit", "bits", "=", "&", "#", "%", "1e9", "-1", "NaN", "log-icot", "lego", "action", "S5", "seeds", "Infinity", "0x1f", "é", " ", "toString", "__proto__", "rate", "[]"];
  for (let trial = 0; trial < 2000; trial++) {
    const hash = Array.from({ length: random.below(14) }, () => words[random.below(words.length)]).join(random.below(2) ? "" : "&");
    const { exhibit, state } = told(`#${hash}`);
    for (const setting of EXHIBITS[exhibit].settings) assert.equal(accepted(setting, String(state[setting.name])).refusal, null, hash);
  }
});

test("every claim of an exhibit is exported", () => {
  for (const { claims } of LIST) for (const id of claims) assert.ok(CLAIMS[id].says, id);
});

test("outside a claim's ranges is said in words", () => {
  const { settings } = EXHIBITS["log-icot"];
  const state = defaults(settings);
  assert.equal(outside("LI-22", settings, state), null);
  assert.match(outside("LI-22", settings, { ...state, bits: 32 }) ?? "", /bits=32, which is meant to be 8 to 20/);
});
