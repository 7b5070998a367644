import { expect, test } from "vitest";
import { parseSettings } from "../settings/settings.js";
import { propagationTargets } from "../trace/propagation.js";
import { browserOptions } from "./browser.js";
import { runtimeOptions } from "./runtime.js";
import { serverOptions } from "./server.js";

const env = { SENTRY_DSN: "http://culvert@ingest:8969/1" };
const settings = parseSettings(env);

const COLLECTED = { userInfo: false, cookies: false, httpBodies: [], genAI: { inputs: false, outputs: false } };
const DENIED = { deny: expect.arrayContaining(["-ip"]) };

test.each([
  [{}, { ...COLLECTED, httpHeaders: { request: DENIED, response: DENIED } }],
  [
    { cookies: undefined, userInfo: true },
    { ...COLLECTED, userInfo: true },
  ],
  [{ genAI: { inputs: true } }, { ...COLLECTED, genAI: { inputs: true, outputs: false } }],
  [{ httpHeaders: { request: false } }, { ...COLLECTED, httpHeaders: { request: false, response: DENIED } }],
  [{ httpHeaders: { allow: ["x-a"] } }, { ...COLLECTED, httpHeaders: { allow: ["x-a"] } }],
])("an app's dataCollection %j changes only what it names", (dataCollection, expected) => {
  const yours = { dataCollection } as object;
  const all = [browserOptions({}, yours), serverOptions(settings, yours), runtimeOptions(settings, yours)];
  for (const options of all) expect(options.dataCollection).toMatchObject(expected);
});

test("SENTRY_TRACES_SAMPLE_RATE decides about what no caller has sampled", () => {
  const options = serverOptions(parseSettings({ ...env, SENTRY_TRACES_SAMPLE_RATE: "0" }), {});
  const sampler = options.tracesSampler as (context: object) => number;
  expect(sampler({ attributes: { "http.target": "/" }, inheritOrSampleWith: (rate: number) => rate })).toBe(0);
});

test("Node and the edge runtime post to the internal proxy, or to the ingest if there is none", () => {
  for (const make of [serverOptions, runtimeOptions]) {
    expect(make(parseSettings({ ...env, SERVER_TUNNEL: "http://proxy:8083/" }), {}).tunnel).toBe("http://proxy:8083/");
    expect(make(settings, {})).not.toHaveProperty("tunnel");
  }
});

const [target] = propagationTargets(["https://api.example.com:8443"]);

test.each(["", "/other", "?q=1"])("the named origin is sent trace headers, with %j too", (path) =>
  expect(`https://api.example.com:8443${path}`).toMatch(target as RegExp),
);

test.each([
  "http://api.example.com:8443/",
  "https://api.example.com/",
  "https://api.example.com:84430/",
  "https://api.example.com:8443.evil.example/",
  "https://api-example.com:8443/",
  "https://evil.example/?next=https://api.example.com:8443/",
])("%s is not", (address) => expect(address).not.toMatch(target as RegExp));
