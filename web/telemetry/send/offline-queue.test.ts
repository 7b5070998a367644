import "fake-indexeddb/auto";
import { makeFetchTransport } from "@sentry/browser";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

vi.mock("@sentry/nextjs", () => import("@sentry/browser"));

type Sent = { sentAt: string; text: string };
const online: (() => void)[] = [];
vi.stubGlobal("addEventListener", (_: string, listener: () => void) => online.push(listener));

let answer: () => Response;
const sent: Sent[] = [];
const lost: string[] = [];
const ok = () => new Response("{}");
vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
  const [header = "{}", , payload = ""] = String(body).split("\n");
  sent.push({ sentAt: JSON.parse(header).sent_at, text: payload });
  return answer();
});

beforeEach(() => {
  // What fake-indexeddb itself waits for stays real.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  vi.setSystemTime("2026-01-01T00:00:00Z");
  answer = ok;
  sent.length = lost.length = 0;
});
afterEach(async () => {
  online.length = 0;
  vi.useRealTimers();
  const store = await queue();
  await settled(store.clear());
});

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The store in which the SDK queues envelopes. */
async function queue(): Promise<IDBObjectStore> {
  const open = indexedDB.open("sentry-offline");
  open.onupgradeneeded = () => open.result.createObjectStore("queue");
  return (await settled(open)).transaction("queue", "readwrite").objectStore("queue");
}
const waiting = async () => settled((await queue()).count());

/** A page's transport; a second one is that of another page load. */
async function page() {
  const { withOfflineQueue } = await import("./offline-queue.js");
  const recordDroppedEvent = (reason: string) => void lost.push(reason);
  const transport = withOfflineQueue(makeFetchTransport)({ url: "https://app/monitoring", recordDroppedEvent });
  const send = (text: string, type = "event") =>
    transport.send([{ sent_at: new Date().toISOString() }, [[{ type }, { text }]]] as never);
  return { send };
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
  test.each([
    ["no network", noNetwork],
    ["502", status(502)],
    ["503", status(503)],
    ["504", status(504)],
  ])("%s: and sent once, with a fresh sent_at, when the browser is online again", async (_, failure) => {
    const { send } = await page();
    answer = failure;
    await send("hello");
    expect(await waiting()).toBe(1);
    expect(lost, "it is not lost").toEqual([]);

    answer = ok;
    vi.setSystemTime("2026-01-01T02:00:00Z");
    for (const listener of online) listener();
    await pass(200);
    expect(sent.map(({ text }) => JSON.parse(text).text)).toEqual(["hello", "hello"]);
    expect(sent.at(-1)?.sentAt).toMatch(/^2026-01-01T02:00:00/);
    expect(await waiting()).toBe(0);
    await pass(60_000);
    expect(sent).toHaveLength(2);
  });

  test("and sent by the next page after the tab was closed", async () => {
    answer = noNetwork;
    await (await page()).send("hello");
    vi.clearAllTimers();
    answer = ok;
    await page();
    await pass(6_000);
    expect(sent).toHaveLength(2);
    expect(await waiting()).toBe(0);
  });

  test("and sent after the next one that succeeds", async () => {
    const { send } = await page();
    answer = status(503);
    await send("first");
    answer = ok;
    await send("second");
    await pass(200);
    expect(sent.map(({ text }) => JSON.parse(text).text)).toEqual(["first", "second", "first"]);
  });

  test("up to a hundred; more are dropped", async () => {
    const { send } = await page();
    answer = noNetwork;
    for (let n = 0; n < 103; n++) await send(String(n));
    expect(await waiting()).toBe(100);
  });
});

test.each([200, 400, 403, 413, 429, 500])("a response of %i is final: nothing is queued", async (code) => {
  const { send } = await page();
  answer = status(code);
  expect(await send("hello")).toMatchObject({ statusCode: code });
  expect(await waiting()).toBe(0);
});

test.each(["replay_event", "replay_recording", "client_report"])("a %s is sent, but never queued", async (type) => {
  const { queueNote } = await import("./offline-queue.js");
  expect(queueNote([{}, [[{ type }, {}]]])).toBeUndefined();
  const { send } = await page();
  await send("well", type);
  expect(sent).toHaveLength(1);
  answer = noNetwork;
  await expect(send("lost", type)).rejects.toThrow("Failed to fetch");
  expect(await waiting()).toBe(0);
  // The SDK does not count its own client reports.
  expect(lost).toEqual(type === "client_report" ? [] : ["network_error"]);
});
