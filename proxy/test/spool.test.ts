import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { type SdkEnvelope, sdkEnvelopes } from "./sdk-envelopes.ts";
import { ok, useProxy } from "./use-proxy.ts";
import { fetchOnce } from "./wire.ts";

// All envelopes come from one client.
const shared = useProxy({ TUNNEL_RATE_PER_CLIENT: "10000" }, { spool: true });

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
  const spoolMetrics = async () => (await fetchOnce(`${shared.proxy.spool}/metrics`)).text();
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

  test("junk is rejected, which is no failure of ingest and spool", async () => {
    await shared.proxy.ingest.answer({ ...ok, status: 503 });
    expect((await shared.post({ body: "hello" })).answer.status).toBe(400);
    const series = 'culvert_tunnel_envelopes_total{outcome="rejected",reason="spool_status_400"}';
    await expect.poll(() => shared.proxy.metric(series)).toBe(1);
  });

  test("an ingest that is gone, and the spool killed meanwhile", async () => {
    await shared.proxy.ingest.answer({ ...ok, instead: "reset" });
    for (let n = 0; n < 10; n++) expect((await post(n)).status).toBe(200);
    await shared.proxy.on("spool", "kill", "--signal=KILL");
    // Meanwhile browsers are told to queue their envelopes.
    const counted = () => shared.proxy.metric('culvert_tunnel_envelopes_total{outcome="failed",reason="unreachable"}');
    const failed = await counted();
    expect((await post(99)).status).toBe(503);
    // An answer is counted once it has been sent.
    await expect.poll(counted).toBe(failed + 1);
    expect(await shared.proxy.metric('culvert_upstream_failures_total{upstream="ingest"}')).toBeGreaterThan(10);
    await shared.proxy.ingest.answer(ok);
    const mark = await shared.proxy.ingest.count();
    await shared.proxy.restart("spool");
    const missing = async () => {
      const arrived = (await bodies(mark)).join();
      return Array.from({ length: 10 }, (_, n) => `"message":"${n}"`).filter((text) => !arrived.includes(text));
    };
    await expect.poll(missing).toEqual([]);
    // Until the proxy asks the spool again, too.
    await shared.proxy.ingest.answer({ ...ok, status: 500 });
    await expect.poll(async () => (await post(1)).status).toBe(200);
  });
});

describe("every item type that an SDK sends", () => {
  let envelopes: SdkEnvelope[];
  beforeAll(async () => {
    envelopes = await sdkEnvelopes("http://key@ingest:9000/prefix/7");
  });
  const contentType = "text/plain;charset=UTF-8";

  // proxy/README.md has a row for each.
  test("is tried", () => {
    const types = new Set(envelopes.flatMap((envelope) => envelope.types));
    expect([...types].sort()).toEqual([
      ...["attachment", "check_in", "client_report", "event", "feedback", "from_the_future", "log", "profile"],
      ...["profile_chunk", "raw_security", "replay_event", "replay_recording", "session", "sessions", "span", "statsd"],
      ...["trace_metric", "transaction", "user_report"],
    ]);
  });

  test("arrives byte for byte through the tunnel", async () => {
    for (const { types, body } of envelopes) {
      const { answer, received } = await shared.post({ body });
      expect([types, answer.status]).toEqual([types, 200]);
      expect(received).toMatchObject([{ url: "/prefix/api/7/envelope/", body: body.toString("base64") }]);
    }
  });

  test("arrives after an outage, in which the spool queued it; only sent_at is later", async () => {
    await shared.proxy.ingest.answer({ ...ok, status: 503 });
    for (const { types, body } of envelopes)
      expect([types, (await shared.post({ body })).answer.status]).toEqual([types, 200]);
    const mark = await shared.proxy.ingest.count();
    await shared.proxy.ingest.answer(ok);

    const withoutTime = (body: Buffer) => body.toString("latin1").replace(/"sent_at":"[^"]+"/, "");
    const missing = async () => {
      const received = await shared.proxy.ingest.all(mark);
      expect(
        received.map((request) => headerOf(request, "content-type")).filter((type) => type !== contentType),
      ).toEqual([]);
      const arrived = received.map(({ body }) => withoutTime(Buffer.from(body, "base64")));
      return envelopes.filter(({ body }) => !arrived.includes(withoutTime(body))).map(({ types }) => types);
    };
    await expect.poll(missing).toEqual([]);
  });
});

// Last, because the spool has to wait for long then.
test("a redirect and every 5xx of the standard or of a CDN before the ingest are queued", async () => {
  for (const status of [301, 307, 500, 501, 507, 511, 525, 526, 529]) {
    await shared.proxy.ingest.answer({ ...ok, status, headers: { "retry-after": "600" } });
    const answer = await post(status);
    expect([status, answer.status, answer.body]).toEqual([status, 200, ""]);
    expect(answer.headers["retry-after"]).toBeUndefined();
    // An ingest that responds gets the next one.
    await shared.proxy.ingest.answer(ok);
    expect(await reachesIngest()).toBe(true);
  }
});
