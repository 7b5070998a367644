import { expect, test } from "vitest";
import { browserOptions, serverOptions } from "./options";
import { parseSettings } from "./settings";

const settings = parseSettings({ SENTRY_DSN: "http://culvert:secret@ingest:8969/1", SENTRY_RELEASE: "v1" });
const visible = {
  dsn: "http://culvert@ingest:8969/1",
  environment: "production",
  release: "v1",
  tracesSampleRate: 0.5,
  tunnelPath: "/reports",
};

test("the browser posts to the bare tunnel path on its own origin, without cookies", () => {
  const options = browserOptions(visible);
  expect(options.tunnel).toBe("/reports");
  expect(options.transportOptions.fetchOptions.credentials).toBe("omit");
});

test("the server talks to the ingest itself", () => {
  expect(serverOptions(settings)).not.toHaveProperty("tunnel");
});

test("browser and server report the same release, environment and project, and both send W3C headers", () => {
  const same = { dsn: visible.dsn, environment: "production", release: "v1", propagateTraceparent: true };
  expect(browserOptions(visible)).toMatchObject(same);
  expect(serverOptions(settings)).toMatchObject(same);
});
