import { once } from "node:events";
import { makeFetchTransport } from "@sentry/browser";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

vi.mock("@sentry/nextjs", () => import("@sentry/browser"));

const online: (() => void)[] = [];
vi.stubGlobal("addEventListener", (_: string, listener: () => void) => online.push(listener));

type Answer = () => Response;
let answer: Answer;
const sent: { sentAt: string; text: string }[] = [];
const lost: string[] = [];
vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
  const [header = "{}", , payload = "{}"] = String(body).split("\n");
  sent.push({ sentAt: JSON.parse(header).sent_at, text: JSON.parse(payload).text });
  return answer();
});

beforeEach(() => {
  vi.stubGlobal("indexedDB", new IDBFactory());
  // What fake-indexeddb itself waits for stays real.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: new Date("2026-01-01T00:00:00Z") });
  sent.length = lost.length = online.length = 0;
});
afterEach(() => vi.useRealTimers());

async function succeeded<T>(request: IDBRequest<T>): Promise<T> {
  await once(request, "success");
  return request.result;
}
/** The number of envelopes in the SDK's queue. */
async function waiting(): Promise<number> {
  const database = await succeeded(indexedDB.open("sentry-offline"));
  // The SDK makes the store with its first envelope.
  if (!database.objectStoreNames.contains("queue")) return 0;
  return succeeded(database.transaction("queue").objectStore("queue").count());
}

/** Opens a page with a transport of its own, and returns the function that sends an envelope. */
async function page() {
  const { withOfflineQueue } = await import("./offline-queue.js");
  const recordDroppedEvent = (reason: string) => void lost.push(reason);
  const transport = withOfflineQueue(makeFetchTransport)({ url: "https://app/monitoring", recordDroppedEvent });
  return (text: string, type = "event") =>
    transport.send([{ sent_at: new Date().toISOString() }, [[{ type }, { text }]]] as never);
}

/** Advances the clock and lets the work that this starts finish. */
async function pass(ms: number) {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 20; turn++) await new Promise((go) => setImmediate(go));
}

const status = (code: number) => () => new Response("{}", { status: code });
const noNetwork = () => {
  throw new TypeError("Failed to fetch");
};

describe("an envelope that is not accepted is queued", () => {
  test.each<[string, Answer]>([
    ["no network", noNetwork],
    ...[502, 503, 504].map((code): [string, Answer] => [`${code}`, status(code)]),
  ])("%s: and sent once, with a fresh sent_at, when the browser is online again", async (_, failure) => {
    const send = await page();
    answer = failure;
    await send("hello");
    expect(await waiting()).toBe(1);
    expect(lost, "it is not lost").toEqual([]);

    answer = status(200);
    vi.setSystemTime("2026-01-01T02:00:00Z");
    for (const listener of online) listener();
    await pass(200);
    expect(sent.at(-1)).toEqual({ text: "hello", sentAt: expect.stringMatching(/^2026-01-01T02:00:00/) });
    await pass(60_000);
    expect(sent).toHaveLength(2);
  });

  test("and sent by the next page after the tab was closed", async () => {
    answer = noNetwork;
    await (await page())("hello");
    vi.clearAllTimers();
    answer = status(200);
    await page();
    await pass(6_000);
    expect(sent).toHaveLength(2);
  });

  test("up to a hundred; more are dropped", async () => {
    const send = await page();
    answer = noNetwork;
    for (let n = 0; n < 103; n++) await send(String(n));
    expect(await waiting()).toBe(100);
  });
});

test.each([200, 400, 413, 429, 500])("a response of %i is final: nothing is queued", async (code) => {
  const send = await page();
  answer = status(code);
  expect(await send("hello")).toMatchObject({ statusCode: code });
  expect(await waiting()).toBe(0);
});

test.each(["replay_event", "replay_recording", "client_report"])("a %s is sent, but never queued", async (type) => {
  const send = await page();
  answer = noNetwork;
  await expect(send("lost", type)).rejects.toThrow("Failed to fetch");
  expect(sent).toHaveLength(1);
  expect(await waiting()).toBe(0);
  // The SDK does not count its own client reports.
  expect(lost).toEqual(type === "client_report" ? [] : ["network_error"]);
});
