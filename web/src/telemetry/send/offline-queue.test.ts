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

/** The store in which the SDK keeps envelopes. */
async function queue(): Promise<IDBObjectStore> {
  const open = indexedDB.open("sentry-offline");
  open.onupgradeneeded = () => open.result.createObjectStore("queue");
  return (await settled(open)).transaction("queue", "readwrite").objectStore("queue");
}
const waiting = async () => settled((await queue()).count());

/** A page's transport; a second one is that of another page load. */
async function page() {
  const { patient } = await import("./offline-queue");
  const recordDroppedEvent = (reason: string) => void lost.push(reason);
  const transport = patient(makeFetchTransport)({ url: "https://app/monitoring", recordDroppedEvent });
  const send = (text: string, type = "event") =>
    transport.send([{ sent_at: new Date().toISOString() }, [[{ type }, { text }]]] as never);
  return { send };
}

/** Lets time pass, and what it sets off come to its end. */
async function pass(ms: number) {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 20; turn++) await new Promise((go) => setImmediate(go));
}

const status = (code: number) => () => new Response("{}", { status: code });
const noNetwork = () => {
  throw new TypeError("Failed to fetch");
};

describe("what nobody took is kept", () => {
  test.each([
    ["no network", noNetwork],
    ["502", status(502)],
    ["503", status(503)],
    ["504", status(504)],
  ])("%s: and sent when the browser is online again, once, as of then", async (_, trouble) => {
    const { send } = await page();
    answer = trouble;
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

  test("and sent by the next page, when the tab was closed", async () => {
    answer = noNetwork;
    await (await page()).send("hello");
    vi.clearAllTimers();
    answer = ok;
    await page();
    await pass(6_000);
    expect(sent).toHaveLength(2);
    expect(await waiting()).toBe(0);
  });

  test("and sent after the next one that gets through", async () => {
    const { send } = await page();
    answer = status(503);
    await send("first");
    answer = ok;
    await send("second");
    await pass(200);
    expect(sent.map(({ text }) => JSON.parse(text).text)).toEqual(["first", "second", "first"]);
  });

  test("up to a hundred; what comes then is dropped", async () => {
    const { send } = await page();
    answer = noNetwork;
    for (let n = 0; n < 103; n++) await send(String(n));
    expect(await waiting()).toBe(100);
  });
});

test.each([200, 400, 403, 413, 429, 500])("an answer of %i is one: nothing is kept", async (code) => {
  const { send } = await page();
  answer = status(code);
  expect(await send("hello")).toMatchObject({ statusCode: code });
  expect(await waiting()).toBe(0);
});

test.each(["replay_event", "replay_recording", "client_report"])("a %s is sent, but never kept", async (type) => {
  const { keptHere } = await import("./offline-queue");
  expect(keptHere([{}, [[{ type }, {}]]])).toBeUndefined();
  const { send } = await page();
  await send("well", type);
  expect(sent).toHaveLength(1);
  answer = noNetwork;
  await expect(send("lost", type)).rejects.toThrow("Failed to fetch");
  expect(await waiting()).toBe(0);
  // The SDK counts no report about itself.
  expect(lost).toEqual(type === "client_report" ? [] : ["network_error"]);
});
