import { makeBrowserOfflineTransport } from "@sentry/nextjs";
import { beforeEach, expect, test, vi } from "vitest";
import { culvertOptions } from "./index.js";
import { culvertIntegration } from "./integration.js";
import { browserOptions, culvertOptions as optionsOfBrowser } from "./options/browser.js";
import { serverOptions } from "./options/server.js";
import { PART_VARIABLES, type Part } from "./parts.js";
import { recordingOutcomes } from "./send/recording-transport.js";
import { fallbackTransport } from "./send/server-transport.js";
import { flushOnShutdown } from "./send/shutdown.js";
import { queueFairly } from "./serve/fair-queue.js";
import { sendServerTiming } from "./serve/server-timing.js";
import { parseSettings } from "./settings/settings.js";
import { skipStaleTrace } from "./trace/cached-page.js";

vi.mock("@sentry/nextjs", async (original) => ({
  ...(await original<object>()),
  makeFetchTransport: vi.fn(),
  makeBrowserOfflineTransport: vi.fn(() => vi.fn()),
}));
vi.mock("./send/recording-transport.js", () => ({ recordingOutcomes: vi.fn(() => () => ({})) }));
vi.mock("./send/server-transport.js");
vi.mock("./send/shutdown.js");
vi.mock("./serve/fair-queue.js");
vi.mock("./serve/server-timing.js");
vi.mock("./settings/send-browser-settings.js", () => ({ settingsMetrics: () => "settings" }));
vi.mock("./trace/page-trace.js", () => ({ traceMetrics: "trace" }));
vi.mock("./trace/cached-page.js");

const env = { SENTRY_DSN: "http://culvert@ingest:8969/1", SERVER_TUNNEL: "http://proxy:8083/envelopes" };
const settings = parseSettings(env);
const { environment, tracesSampleRate } = settings;
const visible = { dsn: env.SENTRY_DSN, environment, tracesSampleRate, release: "r", region: "", tunnelPath: "" };
const serverTiming = [{ name: "culvert", description: new URLSearchParams({ dsn: env.SENTRY_DSN }).toString() }];

beforeEach(() => {
  vi.clearAllMocks();
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  for (const variable of Object.values(PART_VARIABLES)) vi.stubEnv(variable, "on");
  vi.spyOn(performance, "getEntriesByType").mockReturnValue([{ serverTiming }] as never);
});

const isCalled = (mock: object) => vi.mocked(mock as () => void).mock.calls.length > 0;

async function done(): Promise<Record<Part, boolean[]>> {
  culvertOptions();
  const metrics: unknown[] = vi.mocked(sendServerTiming).mock.lastCall ?? [];
  const server = serverOptions(settings, {});
  const browser = browserOptions(visible, {});
  browser.transport?.({ url: "", recordDroppedEvent: () => {} } as never);
  const integrations = (browser.integrations as (defaults: object[]) => object[])([{ name: "BrowserSession" }]);
  const addRequestId = <T extends object>(event: T) => ({ ...event, tags: { request_id: "1" } });
  const integration = culvertIntegration(undefined, { addRequestId });
  const [on, addEventProcessor] = [vi.fn(), vi.fn()];
  integration.setup({ on, addEventProcessor });
  await null;
  const hooks = on.mock.calls.map(([hook]) => hook);
  return {
    browserSettings: ["dsn" in optionsOfBrowser(), metrics.includes("settings")],
    pageTrace: [isCalled(skipStaleTrace), metrics.includes("trace")],
    offlineQueue: [isCalled(makeBrowserOfflineTransport)],
    serverTransport: [isCalled(fallbackTransport)],
    requestIds: [addEventProcessor.mock.lastCall?.[0]({}, {}).tags !== undefined],
    eventFilters: [integration.processEvent({ message: "Script error." }, {}) === null, "ignoreSpans" in server],
    scrubbing: [hooks.includes("beforeEnvelope"), hooks.includes("createDsc"), "dataCollection" in server],
    shutdown: [isCalled(flushOnShutdown)],
    fairQueue: [isCalled(queueFairly)],
    sessions: [integrations.length === 2],
    sendOutcomes: [isCalled(recordingOutcomes)],
  };
}
const parts = Object.keys(PART_VARIABLES) as Part[];

test.each(parts)("%s can be switched off alone", async (off) => {
  vi.stubEnv(PART_VARIABLES[off], "off");
  const did = await done();
  for (const part of parts) expect(new Set(did[part]), part).toEqual(new Set([part !== off]));
});
