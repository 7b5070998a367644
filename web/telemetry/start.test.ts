import { init } from "@sentry/nextjs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

vi.mock("@sentry/nextjs", async (original) => ({
  ...(await original<object>()),
  init: vi.fn(),
  captureRouterTransitionStart: undefined, // the browser's only
}));
vi.mock("./settings/send-browser-settings.js", () => ({ sendBrowserSettings: vi.fn() }));
vi.mock("./send/shutdown.js", () => ({ flushOnShutdown: vi.fn() }));

const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
const log = vi.spyOn(console, "log").mockReturnValue();
const error = vi.spyOn(console, "error").mockReturnValue();

beforeEach(() => {
  vi.clearAllMocks();
  vi.resetModules();
});
afterEach(() => vi.unstubAllEnvs());

async function boot(env: Record<string, string>, yours?: object) {
  for (const [name, value] of Object.entries({ SENTRY_DSN: "", ...env })) vi.stubEnv(name, value);
  const { register } = await import("./server.js");
  await register(yours);
}
const dsn = "http://culvert@ingest:8969/1";
const own = { dsn: "https://key@o1.ingest.sentry.io/1" };

test("an invalid setting ends the process with one line on stderr and code 1, before anything is sent", async () => {
  await boot({ TUNNEL_PATH: "/" });
  const line = /^culvert: TUNNEL_PATH '\/' would hide the whole app: .+$/;
  expect(error.mock.calls).toEqual([[expect.stringMatching(line)]]);
  expect(exit).toHaveBeenCalledExactlyOnceWith(1);
  expect(init).not.toHaveBeenCalled();
});

test("without a DSN the app runs, logs that once, and starts no SDK", async () => {
  await boot({});
  expect(log.mock.calls).toEqual([["culvert: telemetry is off, because SENTRY_DSN is not set"]]);
  expect(init).not.toHaveBeenCalled();
  expect(exit).not.toHaveBeenCalled();
});

test.each([
  [{}, own, own],
  [{ SENTRY_DSN: dsn }, {}, expect.objectContaining({ dsn })],
])(
  "with %j the SDK starts once, with its DSN or with the unchanged options of an app that has a DSN",
  async (env, yours, options) => {
    await boot(env, yours);
    expect(init).toHaveBeenCalledExactlyOnceWith(options);
  },
);

test("without settings from the server the browser starts no SDK, and the app's options are unchanged", async () => {
  await import("./browser.js");
  expect(init).not.toHaveBeenCalled();
  const { culvertOptions } = await import("./options/browser.js");
  expect(culvertOptions(own)).toBe(own);
});
