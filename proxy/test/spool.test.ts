import { createEnvelope, serializeEnvelope } from "@sentry/core";
import { expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { envelope, ok, useProxy } from "./use-proxy.ts";

const another = "http://key@ingest:9000/8";
const shared = useProxy({ TUNNEL_ALLOWED_DSNS: another }, { spool: true });

test("the spool queues what the ingest cannot accept, for the project in its header; web is told, not of what is rejected; a client is not", async () => {
  const { ingest } = shared.proxy;
  await ingest.answer({ ...ok, instead: "reset" });
  const { answer } = await shared.post();
  expect(answer).toMatchObject({ status: 200, body: "", headers: { "cache-control": "no-cache" } });
  for (const name of ["retry-after", "x-envelope-outcome"]) expect(answer.headers[name]).toBeUndefined();
  const outcome = async (body: string) => {
    const { answer } = await shared.post({ path: "/envelopes", body }, shared.inside);
    return [answer.status, answer.headers["x-envelope-outcome"]];
  };
  expect(await outcome(envelope.replace("{", `{"dsn":"${another}",`))).toEqual([200, "queued"]);
  expect(await outcome("no envelope")).toEqual([400, undefined]);

  const mark = await ingest.count();
  await ingest.answer(ok);
  const urls = async () => (await ingest.all(mark)).map(({ url }) => url);
  await expect.poll(urls).toEqual(expect.arrayContaining(["/prefix/api/7/envelope/", "/api/8/envelope/"]));
  expect(await outcome(envelope)).toEqual([200, undefined]);
});

/** Item types that Sentry's SDKs send, and one of a later version. https://develop.sentry.dev/sdk/foundations/transport/envelope-items/ */
const types =
  "event transaction span log trace_metric session check_in feedback client_report profile_chunk replay_event later";
const binary = new Uint8Array(2048).map((_, n) => (n * 31) % 256);
const items: unknown[][] = [
  ...types.split(" ").map((type) => [[{ type }, { text: "two\nlines, über" }]]),
  ...["attachment", "replay_recording"].map((type) => [[{ type, length: binary.length }, binary]]),
];
const header = { dsn: "http://key@ingest:9000/prefix/7", sent_at: "2026-01-01T00:00:00Z" };
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
    return envelopes.map(withoutTime).filter((envelope) => !arrived.includes(envelope));
  };
  await expect.poll(missing).toEqual([]);
});
