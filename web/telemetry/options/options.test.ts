import { expect, test } from "vitest";
import { parseSettings } from "../settings/settings.js";
import { browserOptions } from "./browser.js";
import { runtimeOptions } from "./runtime.js";
import { serverOptions } from "./server.js";

const settings = parseSettings({ SENTRY_DSN: "http://culvert:secret@ingest:8969/1", SENTRY_RELEASE: "v1" });
const alike = { dsn: "http://culvert@ingest:8969/1", environment: "production", release: "v1" };
const visible = { ...alike, region: undefined, tracesSampleRate: 0.5, tunnelPath: "/reports" };

const COLLECTED = { userInfo: false, cookies: false, httpBodies: [], genAI: { inputs: false, outputs: false } };
const DENIED = { deny: expect.arrayContaining(["-ip"]) };

test.each([
  [{}, { ...COLLECTED, httpHeaders: { request: DENIED, response: DENIED } }],
  [
    { cookies: undefined, userInfo: true },
    { ...COLLECTED, userInfo: true },
  ],
  [{ httpBodies: ["incomingRequest"] }, { ...COLLECTED, httpBodies: ["incomingRequest"] }],
  [{ genAI: { inputs: true } }, { ...COLLECTED, genAI: { inputs: true, outputs: false } }],
  [{ httpHeaders: { request: false } }, { ...COLLECTED, httpHeaders: { request: false, response: DENIED } }],
  [{ httpHeaders: { allow: ["x-a"] } }, { ...COLLECTED, httpHeaders: { allow: ["x-a"] } }],
])("an app's dataCollection %j changes only what it names", (dataCollection, expected) => {
  const yours = { dataCollection } as object;
  for (const options of [
    browserOptions(visible, yours),
    serverOptions(settings, yours),
    runtimeOptions(settings, yours),
  ])
    expect(options.dataCollection).toMatchObject(expected);
});
