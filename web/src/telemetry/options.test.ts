import { expect, test } from "vitest";
import { browserOptions, filterError, serverOptions } from "./options";
import { sendOutcomes } from "./send/send-outcomes";
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

test("the server posts to the internal proxy, or to the ingest if there is none", () => {
  const SERVER_TUNNEL = "http://proxy:8083/envelopes";
  expect(serverOptions(parseSettings({ SERVER_TUNNEL }))).toHaveProperty("tunnel", SERVER_TUNNEL);
  expect(serverOptions(settings)).not.toHaveProperty("tunnel");
});

test("browser and server send the same release, environment and project, and both send W3C headers", () => {
  const same = { dsn: visible.dsn, environment: "production", release: "v1", propagateTraceparent: true };
  expect(browserOptions(visible)).toMatchObject(same);
  expect(serverOptions(settings)).toMatchObject(same);
});

test("a filtered error of the server does not use up the request's id, which belongs to the exception that the user was shown", () => {
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

test("a filtered error is dropped and its reason recorded; others are scrubbed and tagged with their digest", () => {
  const error = (value: string) => ({ event_id: "e1", exception: { values: [{ type: "Error", value }] } });
  expect(filterError(error("ResizeObserver loop limit exceeded"), {})).toBeNull();
  expect(sendOutcomes()[0]).toMatchObject({
    eventId: "e1",
    outcome: "dropped",
    note: expect.stringContaining("two layout passes"),
  });

  const sent = filterError(error("no such user jo@example.com"), { originalException: { digest: "123" } });
  expect(sent).toEqual({ ...error("no such user [email]"), tags: { digest: "123" } });
});
