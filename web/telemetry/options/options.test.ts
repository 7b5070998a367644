import { expect, test } from "vitest";
import { parseSettings } from "../settings/settings.js";
import { browserOptions } from "./browser.js";
import { edgeOptions } from "./edge.js";
import { serverOptions } from "./server.js";

const settings = parseSettings({ SENTRY_DSN: "http://culvert:secret@ingest:8969/1", SENTRY_RELEASE: "v1" });
const alike = { dsn: "http://culvert@ingest:8969/1", environment: "production", release: "v1" };
const visible = { ...alike, region: undefined, tracesSampleRate: 0.5, tunnelPath: "/reports" };

test("the browser posts to the bare tunnel path on its own origin, without cookies", () => {
  expect(browserOptions(visible, {})).toMatchObject({
    ...{ ...alike, propagateTraceparent: true, tunnel: "/reports" },
    transportOptions: { fetchOptions: { credentials: "omit" } },
  });
  expect(browserOptions({ ...visible, tunnelPath: undefined }, {})).not.toHaveProperty("tunnel");
});

test.each([serverOptions, edgeOptions])("%o posts to the internal proxy, or to the ingest if there is none", (make) => {
  const SERVER_TUNNEL = "http://proxy:8083/envelopes";
  expect(make(parseSettings({ SERVER_TUNNEL }), {})).toHaveProperty("tunnel", SERVER_TUNNEL);
  expect(make(settings, {})).toMatchObject({ ...alike, propagateTraceparent: true });
  expect(make(settings, {})).not.toHaveProperty("tunnel");
});
