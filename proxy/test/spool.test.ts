import { createEnvelope, serializeEnvelope } from "@sentry/core";
import { afterEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { ok, useProxy } from "./use-proxy.ts";
import { fetchOnce } from "./wire.ts";

// All envelopes come from one client.
const another = "http://key@ingest:9000/8";
const shared = useProxy({ TUNNEL_RATE_PER_CLIENT: "10000", TUNNEL_ALLOWED_DSNS: another }, { spool: true });

/** The spool writes it with milliseconds. */
const sentAt = "2026-01-01T00:00:00Z";
const envelope = (n: number) =>
  `{"event_id":"${n.toString(16).padStart(32, "0")}","sent_at":"${sentAt}"}\n{"type":"event"}\n{"message":"${n}"}\n`;
const post = async (n: number) => (await shared.post({ body: envelope(n) })).answer;
const bodies = async (mark: number) =>
  (await shared.proxy.ingest.all(mark)).map((request) => Buffer.from(request.body, "base64").toString());
/** Whether the proxy asks the ingest itself: the spool changes `sent_at`. */
async function reachesIngest(): Promise<boolean> {
  const mark = await shared.proxy.ingest.count();
  return (await post(1)).status === 200 && (await bodies(mark)).includes(envelope(1));
}
/** Waits until the ingest gets envelopes from the proxy again, and the spool has delivered what it had. */
async function recovered(): Promise<void> {
  await shared.proxy.ingest.answer(ok);
  await expect.poll(reachesIngest).toBe(true);
  const spoolMetrics = async () => (await fetchOnce(`${shared.proxy.at(8082, "spool")}/metrics`)).text();
  await expect.poll(spoolMetrics).not.toContain("culvert_spool_queued_envelopes{");
}

describe("an envelope that the ingest cannot accept is queued, acknowledged, and delivered later", () => {
  afterEach(recovered);

  test.each<[string, Partial<Answer>]>([
    ["503", { status: 503, headers: { "retry-after": "1" } }],
    ["a cut connection", { instead: "reset" }],
  ])("%s", async (_, fault) => {
    await shared.proxy.ingest.answer({ ...ok, ...fault });
    const answer = await post(7);
    expect(answer).toMatchObject({ status: 200, body: "", headers: { "cache-control": "no-cache" } });
    expect(answer.headers["retry-after"]).toBeUndefined();
    const mark = await shared.proxy.ingest.count();
    await shared.proxy.ingest.answer(ok);
    await expect.poll(async () => (await bodies(mark)).join()).toContain('"message":"7"');
  });

  test("to the project that its header names", async () => {
    await shared.proxy.ingest.answer({ ...ok, status: 503 });
    const body = envelope(8).replace("{", `{"dsn":"${another}",`);
    expect((await shared.post({ body })).answer.status).toBe(200);
    const mark = await shared.proxy.ingest.count();
    await shared.proxy.ingest.answer(ok);
    const urls = async () => (await shared.proxy.ingest.all(mark)).map(({ url }) => url);
    await expect.poll(urls).toContain("/api/8/envelope/");
  });
});

/** Each item type that Sentry's SDKs send, and one of a later version. https://develop.sentry.dev/sdk/foundations/transport/envelope-items/ */
const types =
  "event transaction span log trace_metric session sessions check_in feedback user_report client_report profile profile_chunk replay_event raw_security statsd later";
const binary = new Uint8Array(2048).map((_, n) => (n * 31) % 256);
const items: unknown[][] = [
  ...types.split(" ").map((type) => [[{ type }, { text: "two\nlines, über" }]]),
  ...["attachment", "replay_recording"].map((type) => [[{ type, length: binary.length }, binary]]),
];
const header = { dsn: "http://key@ingest:9000/prefix/7", sent_at: sentAt };
const envelopes = items.map((all) => Buffer.from(serializeEnvelope(createEnvelope(header as never, all as never))));

test("every item type, as the SDK writes it, arrives after an outage, in which the spool queued it; only sent_at is later", async () => {
  await shared.proxy.ingest.answer({ ...ok, status: 503 });
  for (const body of envelopes) expect((await shared.post({ body })).answer.status).toBe(200);
  const mark = await shared.proxy.ingest.count();
  await shared.proxy.ingest.answer(ok);

  const withoutTime = (body: Buffer) => body.toString("latin1").replace(/"sent_at":"[^"]+"/, "");
  const missing = async () => {
    const received = await shared.proxy.ingest.all(mark);
    const contentTypes = new Set(received.map((request) => headerOf(request, "content-type")));
    expect(contentTypes).toEqual(new Set(["text/plain;charset=UTF-8"]));
    const arrived = received.map(({ body }) => withoutTime(Buffer.from(body, "base64")));
    return envelopes.map(withoutTime).filter((one) => !arrived.includes(one));
  };
  await expect.poll(missing).toEqual([]);
});
