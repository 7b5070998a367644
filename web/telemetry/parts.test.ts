import { makeBrowserOfflineTransport } from "@sentry/nextjs";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { culvertOptions } from "./index.js";
import { culvertIntegration } from "./integration.js";
import { browserOptions, culvertOptions as optionsOfBrowser } from "./options/browser.js";
import { serverOptions } from "./options/server.js";
import { PART_VARIABLES, type Part } from "./parts.js";
import { recordingOutcomes } from "./send/recording-transport.js";
import { fallbackTransport } from "./send/server-transport.js";
import { flushOnShutdown } from "./send/shutdown.js";
import { sendBrowserSettings } from "./settings/send-browser-settings.js";
import { parseSettings } from "./settings/settings.js";

vi.mock("@sentry/nextjs", async (original) => ({
  ...(await original<object>()),
  makeFetchTransport: vi.fn(),
  makeBrowserOfflineTransport: vi.fn(() => vi.fn()),
}));
vi.mock("./send/recording-transport.js", () => ({ recordingOutcomes: vi.fn(() => () => ({})) }));
vi.mock("./send/server-transport.js", () => ({ fallbackTransport: vi.fn() }));
vi.mock("./send/shutdown.js", () => ({ flushOnShutdown: vi.fn() }));
vi.mock("./settings/send-browser-settings.js", () => ({ sendBrowserSettings: vi.fn() }));

const env = { SENTRY_DSN: "http://culvert@ingest:8969/1", SERVER_TUNNEL: "http://proxy:8083/envelopes" };
const settings = parseSettings(env);
const visible = {
  dsn: env.SENTRY_DSN,
  environment: "e",
  release: "r",
  region: "eu",
  tracesSampleRate: 1,
  tunnelPath: "/t",
};
const serverTiming = [{ name: "culvert", description: new URLSearchParams({ dsn: env.SENTRY_DSN }).toString() }];

beforeEach(() => {
  vi.clearAllMocks();
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  for (const variable of Object.values(PART_VARIABLES)) vi.stubEnv(variable, "on");
  vi.spyOn(performance, "getEntriesByType").mockReturnValue([{ serverTiming }] as never);
});

/** Installs the integration and returns the hooks that it uses, and an event without tags after it has passed. */
async function installed() {
  const [on, addEventProcessor] = [vi.fn(), vi.fn()];
  culvertIntegration(undefined, { addRequestId: (event) => ({ ...event, tags: { request_id: "1" } }) }).setup({
    on,
    addEventProcessor,
  });
  await null;
  return { hooks: on.mock.calls.map(([hook]) => hook), event: addEventProcessor.mock.calls[0]?.[0]({}, {}) };
}
const filter = culvertIntegration(undefined, { addRequestId: (event) => event });

/** What each part does, and no other: whether it did that. */
const does: Record<Part, () => boolean | Promise<boolean>> = {
  browserSettings: () => {
    culvertOptions();
    return "dsn" in optionsOfBrowser() && vi.mocked(sendBrowserSettings).mock.calls.length > 0;
  },
  offlineQueue: () => {
    browserOptions(visible, {}).transport?.({ url: "", recordDroppedEvent: () => {} } as never);
    return vi.mocked(makeBrowserOfflineTransport).mock.calls.length > 0;
  },
  serverTransport: () => {
    serverOptions(settings, {});
    return vi.mocked(fallbackTransport).mock.calls.length > 0;
  },
  requestIds: async () => "tags" in (await installed()).event,
  eventFilters: () =>
    filter.processEvent({ message: "ResizeObserver loop limit exceeded" }, {}) === null &&
    "ignoreSpans" in serverOptions(settings, {}),
  scrubbing: async () =>
    (await installed()).hooks.join() === "beforeEnvelope,createDsc" && "dataCollection" in serverOptions(settings, {}),
  shutdown: () => {
    culvertOptions();
    return vi.mocked(flushOnShutdown).mock.calls.length > 0;
  },
  sessions: () => {
    const { integrations } = browserOptions(visible, {});
    return (integrations as (defaults: object[]) => object[])([{ name: "BrowserSession" }]).length === 2;
  },
  sendOutcomes: () => {
    serverOptions(settings, {});
    return vi.mocked(recordingOutcomes).mock.calls.length > 0;
  },
};
const parts = Object.keys(PART_VARIABLES) as Part[];

describe.each(parts)("%s", (part) => {
  test("can be switched off alone", async () => {
    vi.stubEnv(PART_VARIABLES[part], "off");
    for (const other of parts) {
      vi.clearAllMocks();
      expect(await does[other](), other).toBe(other !== part);
    }
  });
});

test("without settings from the server, the browser's options are the app's", () => {
  vi.mocked(performance.getEntriesByType).mockReturnValue([]);
  const yours = { dsn: "https://key@o1.ingest.sentry.io/1" };
  expect(optionsOfBrowser(yours)).toBe(yours);
});
