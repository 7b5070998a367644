import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { send } from "./wire.ts";

let proxy: TestProxy;
const start = async () => {
  // All envelopes come from one client.
  proxy = await startProxy({ TUNNEL_RATE_PER_CLIENT: "10000" }, { spool: true });
  // The proxy does not wait for it.
  const patient = ["--retry", "60", "--retry-delay", "1", "--retry-connrefused"];
  await proxy.on("proxy", "exec", "curl", "-sS", ...patient, "http://spool:8082/healthz");
};
afterAll(() => proxy?.stop());

/** Waits until the ingest gets envelopes from the proxy again, and the spool has delivered what it had. */
async function recovered(): Promise<void> {
  await proxy.ingest.answer(well);
  await expect.poll(reachesIngest).toBe(true);
  await expect.poll(spoolMetrics).not.toContain("culvert_spool_queued_envelopes{");
}

const envelope = (n: number) =>
  `{"event_id":"${n.toString(16).padStart(32, "0")}"}\n{"type":"event"}\n{"message":"${n}"}\n`;
const post = (n: number) => send(proxy.port, { method: "POST", path: "/monitoring", body: envelope(n) });
const well: Answer = { status: 200, headers: {}, body: "{}" };
const bodies = async (mark = 0) =>
  (await proxy.ingest.all(mark)).map((request) => Buffer.from(request.body, "base64").toString());
/** Whether the proxy asks the ingest itself: the spool adds `sent_at`. */
async function reachesIngest(): Promise<boolean> {
  const mark = await proxy.ingest.count();
  return (await post(1)).status === 200 && (await bodies(mark)).includes(envelope(1));
}

const spoolMetrics = () => proxy.on("proxy", "exec", "curl", "-sS", "http://spool:8082/metrics");
/** How many envelopes the proxy has counted with this outcome. */
const counted = async (outcome: string, reason: string) =>
  Number(
    new RegExp(`^culvert_tunnel_envelopes_total\\{outcome="${outcome}",reason="${reason}"\\} (\\d+)$`, "m").exec(
      await proxy.internal("/metrics"),
    )?.[1] ?? 0,
  );

describe("an envelope that the ingest cannot accept is queued, acknowledged, and delivered later", () => {
  beforeAll(start);
  afterEach(recovered);

  test.each<[string, Partial<Answer>]>([
    ["500", { status: 500 }],
    ["503", { status: 503, headers: { "retry-after": "1" } }],
    ["a cut connection", { instead: "reset" }],
  ])("%s", async (_, fault) => {
    await proxy.ingest.answer({ ...well, ...fault });
    const answer = await post(7);
    expect(answer).toMatchObject({ status: 200, body: "" });
    expect(answer.headers["retry-after"]).toBeUndefined();
    const mark = await proxy.ingest.count();
    await proxy.ingest.answer(well);
    await proxy.ingest.waitFor(
      (request) => (request.url === "/prefix/api/7/envelope/" ? request : undefined),
      mark,
      50_000,
    );
    expect((await bodies()).at(-1)).toContain(`"message":"7"`);
  });

  test("an ingest that is gone, and the spool killed meanwhile", async () => {
    await proxy.ingest.answer({ ...well, instead: "reset" });
    for (let n = 0; n < 10; n++) expect((await post(n)).status).toBe(200);
    await proxy.on("spool", "kill", "--signal=KILL");
    // Meanwhile browsers are told to queue their envelopes.
    const failed = await counted("failed", "unreachable");
    expect((await post(99)).status).toBe(503);
    // An answer is counted once it has been sent.
    await expect.poll(() => counted("failed", "unreachable")).toBe(failed + 1);
    await proxy.ingest.answer(well);
    const mark = await proxy.ingest.count();
    await proxy.on("spool", "start");
    const seen = new Set<string>();
    await proxy.ingest.waitFor(
      (request) => {
        seen.add(
          Buffer.from(request.body, "base64")
            .toString()
            .match(/"message":"(\d+)"/)?.[1] ?? "",
        );
        return seen.size >= 10 ? true : undefined;
      },
      mark,
      50_000,
    );
    for (let n = 0; n < 10; n++) expect(seen).toContain(String(n));
    // Until the proxy asks the spool again, too.
    await proxy.ingest.answer({ ...well, status: 500 });
    await expect.poll(async () => (await post(1)).status).toBe(200);
  });
});

test("a redirect and every 5xx of the standard or of a CDN before the ingest are queued", async () => {
  for (const status of [301, 307, 501, 507, 511, 525, 526, 529]) {
    await proxy.ingest.answer({ ...well, status, headers: { "retry-after": "600" } });
    const answer = await post(status);
    expect([status, answer.status, answer.body]).toEqual([status, 200, ""]);
    expect(answer.headers["retry-after"]).toBeUndefined();
    // An ingest that responds gets the next one.
    await proxy.ingest.answer(well);
    expect(await reachesIngest()).toBe(true);
  }
});
