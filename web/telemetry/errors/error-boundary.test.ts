import { dedupeIntegration, getClient, init } from "@sentry/browser";
import { expect, test, vi } from "vitest";
import { culvertIntegration } from "../integration.js";
import { isReporting, reportFromBoundary, serverEventId } from "./error-boundary.js";

vi.mock("@sentry/nextjs", () => import("@sentry/browser"));

test("without telemetry there is no event id", () => {
  expect(isReporting()).toBe(false);
  expect(reportFromBoundary(new Error("x"))).toBeUndefined();
  expect(serverEventId("a".repeat(32))).toBeUndefined();
});

test("an exception of the browser is sent by the boundary that caught it, which returns its event id", () => {
  const culvert = culvertIntegration(undefined, { addRequestId: (event) => event }) as never;
  const transport = () => ({ send: async () => ({}), flush: async () => true });
  init({ dsn: "https://key@ingest.example/1", defaultIntegrations: [dedupeIntegration(), culvert], transport });
  const events: object[] = [];
  getClient()?.on("beforeSendEvent", (event) => void events.push(event));
  expect(isReporting()).toBe(true);
  // A retry throws it again: the SDK sends no second event.
  const [id, again] = [1, 2].map(() => reportFromBoundary(new Error("x")));
  expect(events).toMatchObject([{ event_id: id, exception: { values: [{ value: "x" }] } }]);
  expect(again).toBe(id);
  expect(reportFromBoundary(new Error("ResizeObserver loop limit exceeded"))).toBeUndefined();
  expect(events).toHaveLength(1);
});

test("the id of the server's event is that of its request, unless requestIds is off", () => {
  expect(serverEventId("a".repeat(32))).toBe("a".repeat(32));
  vi.stubEnv("CULVERT_REQUEST_IDS", "off");
  expect(serverEventId("a".repeat(32))).toBeUndefined();
});
