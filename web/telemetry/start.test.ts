import { captureException, init } from "@sentry/nextjs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

vi.mock("@sentry/nextjs", async (original) => ({
  ...(await original<object>()),
  init: vi.fn(),
  captureException: vi.fn(),
  makeFetchTransport: vi.fn(),
  makeBrowserOfflineTransport: vi.fn(),
  captureRouterTransitionStart: undefined, // the browser's only
}));
vi.mock("./serve/server-timing.js");
vi.mock("./send/shutdown.js");

const log = vi.spyOn(console, "log").mockReturnValue();

beforeEach(() => {
  vi.clearAllMocks();
  vi.resetModules();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

async function boot(env: Record<string, string>, yours?: object) {
  for (const [name, value] of Object.entries({ SENTRY_DSN: "", ...env })) vi.stubEnv(name, value);
  const { register } = await import("./server.js");
  await register(yours);
}
const dsn = "http://culvert@ingest:8969/1";
const app: { dsn?: string } = { dsn: "https://key@o1.ingest.sentry.io/1" };
const protectedOwn = expect.objectContaining({ ...app, dataCollection: expect.objectContaining({ cookies: false }) });

test("without a DSN the app runs, logs that once, and starts no SDK", async () => {
  await boot({});
  expect(log.mock.calls).toEqual([["culvert: telemetry is off, because SENTRY_DSN is not set"]]);
  expect(init).not.toHaveBeenCalled();
});

test.each([
  [{}, app, protectedOwn],
  [{ SENTRY_DSN: dsn }, {}, expect.objectContaining({ dsn })],
])(
  "with %j the SDK starts once, with its DSN or that of an app's code, whose environment and sample rate stay the app's",
  async (env, yours, options) => {
    await boot(env, yours);
    expect(init).toHaveBeenCalledExactlyOnceWith(options);
    const [given] = vi.mocked(init).mock.lastCall ?? [];
    expect(["environment" in (given ?? {}), "tracesSampler" in (given ?? {})]).toEqual([yours !== app, yours !== app]);
  },
);

const timing = 'culvert;desc="dsn=http%3A%2F%2Fculvert%40ingest%3A8969%2F1&tunnel=%2Freports"';

// web/e2e/hidden-settings.spec.ts has a page that a service worker fetched.
const seen = { serverTiming: [] as object[] | undefined, transferSize: 9, workerStart: 0 };
const late = { dsn, tunnel: "/reports" };

test.each([
  ["Culvert does not serve", seen, {}, undefined],
  ["Culvert does not serve, with a DSN in the code", seen, app, protectedOwn],
  ["WebKit reached by another origin's redirect", { ...seen, transferSize: 0 }, {}, late],
  ["Firefox loaded over plain HTTP", { ...seen, serverTiming: undefined }, app, { ...app, tunnel: "/reports" }],
])("a page that %s: the browser's SDK starts with %j %j", async (_, entry, yours, expected) => {
  vi.spyOn(performance, "getEntriesByType").mockReturnValue([entry] as never);
  const settings = vi.fn(async () => new Response(null, { headers: { "server-timing": timing } }));
  vi.stubGlobal("fetch", settings);
  const listeners = new EventTarget();
  for (const name of ["addEventListener", "removeEventListener"] as const)
    vi.stubGlobal(name, listeners[name].bind(listeners));
  const capture = vi.mocked(captureException);
  const { culvertOptions } = await import("./options/browser.js");
  const options = culvertOptions(yours);
  expect(settings).toHaveBeenCalledTimes(entry === seen ? 0 : 1);
  if (entry === seen)
    return expect(options).toEqual(expected ?? expect.not.objectContaining({ dsn: expect.anything() }));
  expect(options).toMatchObject({ dsn: undefined, tunnel: "/monitoring" });
  const error = new Error("early");
  listeners.dispatchEvent(Object.assign(new Event("error"), { error }));
  const mechanism = expect.objectContaining({ handled: false });
  await expect.poll(() => capture.mock.calls).toEqual([[error, { mechanism }]]);
  expect(init).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(expected));
});
