import { EventEmitter, once } from "node:events";
import { Agent, type IncomingMessage, request, type Server } from "node:http";
import { close, flush } from "@sentry/nextjs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listen } from "../test/listen.js";
import { flushOnShutdown } from "./shutdown.js";
import { isStopping } from "./stopping.js";

vi.mock("@sentry/nextjs", () => ({ close: vi.fn(async () => true), flush: vi.fn(async () => true) }));

const CONTEXT = Symbol.for("@next/request-context");
const shared = globalThis as never as { [CONTEXT]: { get(): { waitUntil(work: Promise<unknown>): void } } };
const exited = vi.spyOn(process, "exit");
let server: Server;
let url: string;

beforeEach(async () => {
  vi.clearAllMocks();
  exited.mockReturnValue(undefined as never);
  vi.stubEnv("NEXT_MANUAL_SIG_HANDLE", "true");
  ({ server, url } = await listen((_, response) => response.end()));
});
afterEach(() => {
  server.closeAllConnections();
  for (const signal of ["SIGTERM", "SIGINT"]) process.removeAllListeners(signal);
  // Each test installs it anew, in a process that was not told to stop.
  for (const name of ["culvert.shutdown", "culvert.stopping", "@next/request-context"])
    Reflect.deleteProperty(globalThis, Symbol.for(name));
  vi.unstubAllEnvs();
});

async function ask(agent = new Agent({ keepAlive: true, maxSockets: 1 })) {
  const outgoing = request(url, { agent, method: "POST" }).end();
  const [response]: IncomingMessage[] = await once(outgoing, "response");
  await once(response?.resume() ?? server, "end");
  return { agent, reused: outgoing.reusedSocket, connection: response?.headers.connection };
}

test("an idle connection has its next request; then the process ends with 0", async () => {
  flushOnShutdown();
  const { agent } = await ask();
  process.emit("SIGTERM");
  expect(isStopping()).toBe(true);
  await expect.poll(() => server.listening).toBe(false);
  expect(close).not.toHaveBeenCalled();
  expect(await ask(agent)).toMatchObject({ reused: true, connection: "close" });
  await expect.poll(() => exited.mock.calls).toEqual([[0]]);
  expect(close).toHaveBeenCalledOnce();
});

test("a connection that waits for a busy process is accepted before the server closes", async () => {
  flushOnShutdown();
  await ask(new Agent());
  const answer = ask(new Agent());
  // The kernel has connected it, and this process has not seen it.
  await new Promise<void>((connected) => process.nextTick(connected));
  process.emit("SIGTERM");
  expect(await answer).toMatchObject({ connection: "close" });
  await expect.poll(() => exited.mock.calls).toHaveLength(1);
});

test("background work is waited for, also if it begins meanwhile or fails; events are flushed until then", async () => {
  flushOnShutdown();
  const error = vi.spyOn(console, "error").mockReturnValue();
  const { waitUntil } = shared[CONTEXT].get();
  const work = new EventEmitter();
  waitUntil(once(work, "first").then(() => waitUntil(once(work, "later"))));
  waitUntil(Promise.reject(new Error("failed")));
  process.emit("SIGTERM");
  await expect.poll(() => vi.mocked(flush).mock.calls.length).toBeGreaterThan(1);
  work.emit("first");
  await new Promise(setImmediate);
  expect([vi.mocked(close).mock.calls, exited.mock.calls]).toEqual([[], []]);
  work.emit("later");
  await expect.poll(() => exited.mock.calls).toHaveLength(1);
  expect(close).toHaveBeenCalledOnce();
  expect(error).toHaveBeenCalledExactlyOnceWith(new Error("failed"));
});

test("where Next ends the process itself, events are flushed when the signal arrives", () => {
  vi.stubEnv("NEXT_MANUAL_SIG_HANDLE", "");
  flushOnShutdown();
  process.emit("SIGTERM");
  expect(flush).toHaveBeenCalledOnce();
  expect(shared[CONTEXT]).toBeUndefined();
  expect(exited).not.toHaveBeenCalled();
});
