import { afterAll, beforeAll, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { type SdkEnvelope, sdkEnvelopes } from "./sdk-envelopes.ts";
import { send } from "./wire.ts";

const SENTRY_DSN = "http://key@ingest:9000/prefix/7";
const well = { status: 200, headers: {}, body: "{}" };

let proxy: TestProxy;
let envelopes: SdkEnvelope[];
beforeAll(async () => {
  [proxy, envelopes] = await Promise.all([startProxy({ SENTRY_DSN }, { spool: true }), sdkEnvelopes(SENTRY_DSN)]);
});
afterAll(() => proxy?.stop());

async function post({ body }: SdkEnvelope): Promise<number> {
  const headers = { "content-type": "text/plain;charset=UTF-8" };
  return (await send(proxy.port, { method: "POST", path: "/monitoring", headers, body })).status;
}

// proxy/README.md has a row for each.
test("every item type is sent", () => {
  const types = new Set(envelopes.flatMap((envelope) => envelope.types));
  expect([...types].sort()).toEqual([
    ...["attachment", "check_in", "client_report", "event", "feedback", "from_the_future", "log", "profile"],
    ...["profile_chunk", "raw_security", "replay_event", "replay_recording", "session", "sessions", "span", "statsd"],
    ...["trace_metric", "transaction", "user_report"],
  ]);
});

test("every item type arrives byte for byte through the tunnel", async () => {
  await proxy.ingest.answer(well);
  for (const envelope of envelopes) {
    const mark = await proxy.ingest.count();
    expect([envelope.types, await post(envelope)]).toEqual([envelope.types, 200]);
    const [received] = await proxy.ingest.all(mark);
    expect(received?.url).toBe("/prefix/api/7/envelope/");
    expect(received?.body).toBe(envelope.body.toString("base64"));
  }
});

test("every item type arrives after an outage, in which the spool queued it; only sent_at is new", async () => {
  await proxy.ingest.answer({ ...well, status: 503 });
  for (const envelope of envelopes) expect([envelope.types, await post(envelope)]).toEqual([envelope.types, 200]);
  const mark = await proxy.ingest.count();
  await proxy.ingest.answer(well);

  // The header line without sent_at, which the spool sets anew, and all that follows it in bytes.
  const parts = (body: Buffer) => {
    const end = body.indexOf(10);
    const { sent_at: _, ...header } = JSON.parse(body.subarray(0, end).toString());
    return { header, rest: body.subarray(end).toString("base64") };
  };
  const missing = new Map(envelopes.map((envelope) => [parts(envelope.body).rest, envelope]));
  await proxy.ingest.waitFor(
    (received) => {
      const arrived = parts(Buffer.from(received.body, "base64"));
      const envelope = missing.get(arrived.rest);
      // What the ingest rejected may arrive twice.
      if (envelope && missing.delete(arrived.rest)) {
        expect(arrived.header).toEqual(parts(envelope.body).header);
        expect(headerOf(received, "content-type")).toBe("text/plain;charset=UTF-8");
      }
      return missing.size === 0 ? true : undefined;
    },
    mark,
    50_000,
  );
});
