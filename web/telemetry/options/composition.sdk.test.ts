import "fake-indexeddb/auto";
import * as browser from "@sentry/browser";
import * as sentry from "@sentry/nextjs";
import { expect, test, vi } from "vitest";
import { culvertOptions } from "../index.js";
import { culvertOptions as optionsOfBrowser } from "./browser.js";

vi.mock("@sentry/nextjs", async (original) => {
  const { makeBrowserOfflineTransport, makeFetchTransport } = await import("@sentry/browser");
  const queue = vi.fn(makeBrowserOfflineTransport);
  return { ...(await original<object>()), makeBrowserOfflineTransport: queue, makeFetchTransport };
});

const dsn = "http://culvert@127.0.0.1:9/1";
vi.stubEnv("SENTRY_DSN", dsn);
vi.stubGlobal("addEventListener", () => {});
const serverTiming = [{ name: "culvert", description: new URLSearchParams({ dsn }).toString() }];
vi.spyOn(performance, "getEntriesByType").mockReturnValue([{ serverTiming }] as never);

const sides = {
  server: { init: sentry.init, ours: culvertOptions },
  browser: { init: browser.init, ours: optionsOfBrowser },
};

/** Starts the SDK with options of an app that uses every hook, and sends one error; returns which hooks ran, in order, and what was sent. */
async function run(side: keyof typeof sides, isSpread: boolean) {
  const order: string[] = [];
  const sent: string[] = [];
  const yours: sentry.NodeOptions = {
    release: "theirs",
    ignoreErrors: ["ignored by the app"],
    integrations: [
      {
        name: "Theirs",
        processEvent: (event) => {
          order.push("integration");
          return event;
        },
      },
    ],
    tracesSampler: () => {
      order.push("sampler");
      return 1;
    },
    beforeSend: (event) => {
      order.push(`beforeSend ${String(event.tags?.digest)}`);
      return { ...event, extra: { added: "to jo.doe@example.com" } };
    },
    transport: (transportOptions) =>
      sentry.createTransport(transportOptions, async ({ body }) => {
        order.push("transport");
        sent.push(String(body));
        return { statusCode: 200 };
      }),
  };
  sentry.getCurrentScope().setClient(undefined);
  const { init, ours } = sides[side];
  const client = init((isSpread ? { ...ours(), ...yours } : ours(yours)) as never);
  // A request comes much later than the start.
  await new Promise(setImmediate);
  sentry.startSpan({ name: "page", attributes: { "http.target": "/" } }, () => {});
  sentry.startSpan({ name: "check", attributes: { "http.target": "/healthz" } }, () => {});
  sentry.captureException(Object.assign(new Error("boom"), { digest: "42" }));
  sentry.captureException(new Error("ignored by the app"));
  sentry.captureException(new Error("ResizeObserver loop limit exceeded"));
  await client?.flush(5_000);
  const errors = sent.filter((text) => text.includes('"type":"event"'));
  return { order, errors, options: client?.getOptions(), names: client?.getIntegrationByName("Culvert")?.name };
}

test.each([
  ["server", "culvertOptions({ …yours })", 1],
  ["server", "{ ...culvertOptions(), ...yours }", 2],
  ["browser", "culvertOptions({ …yours })", 2],
  ["browser", "{ ...culvertOptions(), ...yours }", 2],
] as const)(
  "%s: with %s each hook of the app runs beside ours, in the documented order",
  async (side, form, sampled) => {
    vi.mocked(sentry.makeBrowserOfflineTransport).mockClear();
    const { order, errors, options: used, names } = await run(side, form.startsWith("{"));
    expect(names).toBe("Culvert");
    expect(order.filter((step) => step === "sampler")).toHaveLength(sampled);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain("boom");
    // Scrubbing is last: it covers what the app's hook added.
    expect(errors[0]).toContain("to [email]");
    const [integration, beforeSend] = ["integration", "beforeSend 42"].map((step) => order.indexOf(step));
    expect(integration).toBeGreaterThanOrEqual(0);
    expect(beforeSend).toBeGreaterThan(integration ?? 0);
    expect(order.lastIndexOf("transport")).toBeGreaterThan(beforeSend ?? 0);
    expect(used).toMatchObject({ release: "theirs", dsn });
    const isQueued = side === "browser" && form.startsWith("culvertOptions");
    expect(sentry.makeBrowserOfflineTransport).toHaveBeenCalledTimes(isQueued ? 1 : 0);
  },
);

test("without SENTRY_DSN the app's options are returned unchanged", async () => {
  vi.resetModules();
  vi.stubEnv("SENTRY_DSN", "");
  const { culvertOptions: anew } = await import("../index.js");
  const yours = { dsn: "https://key@o1.ingest.sentry.io/1" };
  expect(anew(yours)).toBe(yours);
});
