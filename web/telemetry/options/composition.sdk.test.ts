import "fake-indexeddb/auto";
import * as browser from "@sentry/browser";
import * as sentry from "@sentry/nextjs";
import { expect, test, vi } from "vitest";
import { culvertOptions } from "../index.js";
import { sendOutcomes } from "../send/send-outcomes.js";
import { culvertOptions as optionsOfBrowser } from "./browser.js";

vi.mock("@sentry/nextjs", async (original) => {
  const { makeBrowserOfflineTransport, makeFetchTransport } = await import("@sentry/browser");
  const queue = vi.fn(makeBrowserOfflineTransport);
  return { ...(await original<object>()), makeBrowserOfflineTransport: queue, makeFetchTransport };
});

const env = {
  SENTRY_DSN: "http://culvert@127.0.0.1:9/1",
  REGION: "eu",
  CULVERT_SEND_OUTCOMES: "on",
  TRACE_PROPAGATION_TARGETS: "https://api.example",
};
for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
const dsn = env.SENTRY_DSN;
vi.stubGlobal("addEventListener", () => {});
const serverTiming = [{ name: "culvert", description: new URLSearchParams({ dsn, region: "eu" }).toString() }];
vi.spyOn(performance, "getEntriesByType").mockReturnValue([{ serverTiming }] as never);

const sides = {
  server: { init: sentry.init, ours: culvertOptions },
  browser: { init: browser.init, ours: optionsOfBrowser },
};

function optionsOfApp(order: string[], sent: string[]): sentry.NodeOptions {
  const note = <T>(step: string, result: T): T => {
    order.push(step);
    return result;
  };
  return {
    release: "theirs",
    ignoreErrors: ["ignored by the app"],
    tracePropagationTargets: ["theirs"],
    integrations: [{ name: "Theirs", processEvent: (event) => note("integration", event) }],
    tracesSampler: () => note("sampler", 1),
    beforeSend: ({ tags, ...event }) =>
      note(["beforeSend", tags?.digest, tags?.region].join(" "), {
        ...event,
        tags,
        extra: { to: "jo.doe@example.com" },
      }),
    transport: (options) =>
      sentry.createTransport(options, async ({ body }) =>
        note("transport", { statusCode: sent.push(`${body}`) && 200 }),
      ),
  };
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
    sentry.getCurrentScope().setClient(undefined);
    const [order, sent]: [string[], string[]] = [[], []];
    const yours = optionsOfApp(order, sent);
    const { init, ours } = sides[side];
    const client = init((form.startsWith("{") ? { ...ours(), ...yours } : ours(yours)) as never);
    // A request comes much later than the start.
    await new Promise(setImmediate);
    sentry.startSpan({ name: "page", attributes: { "http.target": "/" } }, () => {});
    sentry.startSpan({ name: "check", attributes: { "http.target": "/healthz" } }, () => {});
    // As in a request that ends with this exception: its id is the event's, and a filtered exception does not use it up.
    const id = crypto.randomUUID().replaceAll("-", "");
    sentry.getIsolationScope().setSDKProcessingMetadata({ normalizedRequest: { headers: { "x-request-id": id } } });
    const ended = { mechanism: { handled: false, type: "auto.function.nextjs.on_request_error" } };
    sentry.captureException(new Error("NEXT_REDIRECT"), ended);
    sentry.captureException(Object.assign(new Error("boom"), { digest: "42" }), ended);
    sentry.captureException(new Error("ignored by the app"));
    sentry.captureException(new Error("ResizeObserver loop limit exceeded"));
    await client?.flush();

    expect(order.filter((step) => step === "sampler")).toHaveLength(sampled);
    const errors = sent.filter((text) => text.includes('"type":"event"'));
    // Scrubbing is last: it covers what the app's hook added.
    expect(errors).toEqual([expect.stringMatching(/boom.*"to":"\[email\]"/s)]);
    if (side === "server") expect(errors[0]).toMatch(new RegExp(`"event_id":"${id}".*"request_id":"${id}"`, "s"));
    const steps = ["integration", "beforeSend 42 eu"].map((step) => order.indexOf(step));
    expect(steps).toEqual([...steps, order.lastIndexOf("transport")].sort((a, b) => a - b).slice(0, 2));
    expect(steps).not.toContain(-1);
    expect(client?.getOptions()).toMatchObject({ release: "theirs", dsn });
    const note = expect.stringContaining("two layout passes");
    expect(sendOutcomes()).toContainEqual(expect.objectContaining({ outcome: "dropped", note }));
    const targets = form.startsWith("{") || side === "browser" ? ["theirs"] : [expect.any(RegExp), "theirs"];
    expect(client?.getOptions().tracePropagationTargets).toEqual(targets);
    const isQueued = side === "browser" && form.startsWith("culvertOptions");
    expect(sentry.makeBrowserOfflineTransport).toHaveBeenCalledTimes(isQueued ? 1 : 0);
  },
);
