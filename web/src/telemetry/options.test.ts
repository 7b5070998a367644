import { expect, test } from "vitest";
import { browserOptions, judge, serverOptions } from "./options";
import { deliveries } from "./send/send-outcomes";
import { parseSettings } from "./settings/settings";

const settings = parseSettings({ SENTRY_DSN: "http://culvert:secret@ingest:8969/1", SENTRY_RELEASE: "v1" });
const visible = {
  dsn: "http://culvert@ingest:8969/1",
  environment: "production",
  release: "v1",
  region: undefined,
  tracesSampleRate: 0.5,
  tunnelPath: "/reports",
};

test("the browser posts to the bare tunnel path on its own origin, without cookies", () => {
  const options = browserOptions(visible);
  expect(options.tunnel).toBe("/reports");
  expect(options.transportOptions.fetchOptions.credentials).toBe("omit");
});

test("the server posts to the proxy inside, and to the ingest itself where there is none", () => {
  const SERVER_TUNNEL = "http://proxy:8083/envelopes";
  expect(serverOptions(parseSettings({ SERVER_TUNNEL }))).toHaveProperty("tunnel", SERVER_TUNNEL);
  expect(serverOptions(settings)).not.toHaveProperty("tunnel");
});

test("browser and server report the same release, environment and project, and both send W3C headers", () => {
  const same = { dsn: visible.dsn, environment: "production", release: "v1", propagateTraceparent: true };
  expect(browserOptions(visible)).toMatchObject(same);
  expect(serverOptions(settings)).toMatchObject(same);
});

test("noise of the server does not take its request's id: that is for the exception that the visitor was shown", () => {
  const id = "b".repeat(32);
  const thrown = (value: string) => ({
    event_id: "1",
    request: { headers: { "x-request-id": id } },
    exception: { values: [{ value, mechanism: { handled: false, type: "auto.function.nextjs.on_request_error" } }] },
  });
  const { beforeSend } = serverOptions(settings);
  expect(beforeSend(thrown("NEXT_REDIRECT"), {})).toBeNull();
  expect(beforeSend(thrown("no such user"), {})).toMatchObject({ event_id: id, tags: { request_id: id } });
});

test("noise is dropped and the reason kept for the console; the rest is scrubbed and can be found by its digest", () => {
  const error = (value: string) => ({ event_id: "e1", exception: { values: [{ type: "Error", value }] } });
  expect(judge(error("ResizeObserver loop limit exceeded"), {})).toBeNull();
  expect(deliveries()[0]).toMatchObject({
    eventId: "e1",
    outcome: "dropped",
    note: expect.stringContaining("two passes"),
  });

  const kept = judge(error("no such user jo@example.com"), { originalException: { digest: "123" } });
  expect(kept).toEqual({ ...error("no such user [email]"), tags: { digest: "123" } });
});
