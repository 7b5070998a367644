import { once } from "node:events";
import { makeFetchTransport } from "@sentry/browser";
import { IDBFactory } from "fake-indexeddb";
import { beforeEach, expect, test, vi } from "vitest";
import { withOfflineQueue } from "./offline-queue.js";

vi.mock("@sentry/nextjs", () => import("@sentry/browser"));
vi.stubGlobal("addEventListener", () => {});
// The SDK's retries after 5 s, which count as requests.
vi.useFakeTimers({ toFake: ["setTimeout"] });

let answer: () => Response;
let requests = 0;
const lost: string[] = [];
vi.stubGlobal("fetch", async () => {
  requests += 1;
  return answer();
});
beforeEach(() => {
  vi.stubGlobal("indexedDB", new IDBFactory());
  lost.length = requests = 0;
});

async function succeeded<T>(request: IDBRequest<T>): Promise<T> {
  await once(request, "success");
  return request.result;
}
/** The number of envelopes in the SDK's queue, which it makes with its first one. */
async function waiting(): Promise<number> {
  const database = await succeeded(indexedDB.open("sentry-offline"));
  if (!database.objectStoreNames.contains("queue")) return 0;
  return succeeded(database.transaction("queue").objectStore("queue").count());
}

function page() {
  const recordDroppedEvent = (reason: string) => void lost.push(reason);
  const transport = withOfflineQueue(makeFetchTransport)({ url: "https://app/monitoring", recordDroppedEvent });
  return (type = "event") => transport.send([{}, [[{ type }, {}]]] as never);
}

const status = (code: number) => () => new Response("{}", { status: code });
const noNetwork = () => {
  throw new TypeError("Failed to fetch");
};

// web/e2e/alone/offline.spec.ts has how they are sent.
test.each([502, 503, 504])("a response of %i: the envelope is queued, and not counted as lost", async (code) => {
  answer = status(code);
  await page()();
  expect([await waiting(), lost]).toEqual([1, []]);
});

test("up to a hundred are queued; more are dropped", async () => {
  const send = page();
  answer = noNetwork;
  for (let n = 0; n < 103; n++) await send();
  expect(await waiting()).toBe(100);
});

test.each([200, 400, 413, 429, 500])("a response of %i is final: nothing is queued", async (code) => {
  answer = status(code);
  expect(await page()()).toMatchObject({ statusCode: code });
  expect(await waiting()).toBe(0);
});

test.each(["replay_event", "replay_recording", "client_report"])("a %s is sent, but never queued", async (type) => {
  answer = noNetwork;
  await expect(page()(type)).rejects.toThrow("Failed to fetch");
  expect([requests, await waiting()]).toEqual([1, 0]);
  // The SDK does not count its own client reports.
  expect(lost).toEqual(type === "client_report" ? [] : ["network_error"]);
});
