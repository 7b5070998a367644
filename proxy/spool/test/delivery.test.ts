import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { makePair } from "../../../deploy/test/support/certificate.ts";
import { root } from "../../../deploy/test/support/docker.ts";
import { headerOf } from "../../../deploy/test/support/recorder/client.ts";
import {
  envelope,
  envelopeUrl,
  isEmpty,
  metric,
  newId,
  outcome,
  recorded,
  send,
  sendMany,
} from "./support/envelopes.ts";
import { publicFolder, startStack, waitUntil } from "./support/stack.ts";

const folder = publicFolder();
/** For a spool with settings of its own: a queue that nothing else is in. */
const ownQueue = "--volume=/var/lib/spool";

makePair(join(folder, "server"), ["ingest"]);
const TUNNEL_ALLOWED_DSNS = "http://second@ingest:9000/8";
const stack = await startStack({ TUNNEL_ALLOWED_DSNS }, { tls: { cert: folder, name: "other" } });
const { url } = stack;
beforeEach(({ onTestFailed }) => onTestFailed(() => stack.replaceSpool(ownQueue)));
afterEach(async () => {
  await stack.ingest();
  await drained();
});
afterAll(stack.stop);

const drained = () => waitUntil(() => isEmpty(stack));
const delivered = (ids: string[]) => waitUntil(async () => (await outcome(stack, ids)).lost === 0);

async function recordRequests() {
  const mark = (await stack.seen()).length;
  return () => stack.seen(mark);
}

/** The most of these times within `ms`. */
const most = (times: number[], ms: number) =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));

const reason = expect.any(String);
test("more than 20 MB are rejected", async () => {
  expect(await send(url, Buffer.alloc((20 << 20) + 1))).toEqual({ status: 413, body: { reason } });
});

test("a CSP report goes to the second project's security address unchanged", async () => {
  const address = "http://ingest:9000/api/8/security/?sentry_key=second";
  const body = Buffer.from('{"csp-report":{}}');
  const headers = { "x-spool-destination": address, "content-type": "application/csp-report" };
  expect(await send(url, body, headers)).toEqual({ status: 200, body: {} });
  const request = await stack.recorder.waitFor((request) => (address.endsWith(request.url) ? request : undefined));
  expect(Buffer.from(request.body, "base64")).toEqual(body);
  await waitUntil(async () => (await metric(stack, 'delivered_total{category="security"}')) === 1);
});

test("only the tunnel's headers arrive, and only sent_at changes of a body, which stays compressed", async () => {
  const snippet = readFileSync(`${root}/proxy/snippets/envelope-headers.conf`, "utf8");
  const tunnel = [...snippet.matchAll(/^proxy_set_header (\S+)/gm)].map(([, name]) => `${name}`.toLowerCase());
  const added = ["x-sentry-forwarded-for", "connection"];
  const named = Object.fromEntries(tunnel.filter((name) => !added.includes(name)).map((name) => [name, newId()]));
  expect(Object.keys(named).length).toBeGreaterThan(8);
  named["content-encoding"] = "gzip";
  const body = envelope("event", newId(), 100);
  const others = { cookie: "a=1", authorization: "Bearer x", "x-sentry-auth": "x", "x-anything": "1" };
  const began = Date.now();
  expect(await send(url, gzipSync(body), { ...named, ...others })).toEqual({ status: 200, body: {} });

  const request = await stack.recorder.waitFor((request) =>
    headerOf(request, "user-agent") === named["user-agent"] ? request : undefined,
  );
  const names = request.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  expect(names.sort()).toEqual([...tunnel, "content-length", "host"].sort());
  expect(headerOf(request, "x-sentry-forwarded-for")).toBe(named["x-forwarded-for"]);
  for (const [name, value] of Object.entries(named)) expect(headerOf(request, name)).toBe(value);
  expect(headerOf(request, "host")).toBe("ingest:9000");
  expect(request.url).toBe(new URL(envelopeUrl).pathname);

  const text = gunzipSync(Buffer.from(request.body, "base64")).toString();
  const [, sentAt = ""] = /"sent_at":"([^"]+)"/.exec(text) ?? [];
  const before = "2026-01-01T00:00:00.000Z";
  const timeInSpool = Date.parse(sentAt) - Date.parse(before);
  expect(timeInSpool).toBeGreaterThanOrEqual(0);
  expect(timeInSpool).toBeLessThanOrEqual(Date.now() - began);
  expect(text.replace(sentAt, before)).toBe(body.toString());
});

test("an ingest that answers 503: one attempt at a time, for all projects, with backoff, then all arrive by priority, at SPOOL_RATE", async () => {
  const rate = 40;
  await stack.replaceSpool(`--env=SPOOL_RATE=${rate}`);
  const attempts = await recordRequests();
  await stack.ingest({ status: 503 });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const id = newId();
    ids.push(id);
    const headers = { "x-spool-destination": "http://ingest:9000/api/8/envelope/" };
    expect((await send(url, envelope("event", id), headers)).status).toBe(200);
  }
  for (const item of ["replay_event", "session", "transaction", "log", "feedback", "event", "profile_chunk"]) {
    ids.push(...(await sendMany(url, 20, item, 0, 1)));
  }
  await waitUntil(async () => (await attempts()).length >= 4);
  const times = (await attempts()).map(({ at }) => at);
  for (let i = 1; i < 4; i++) {
    // Half a second, doubled each time, of which up to half is random; the ingest's clock starts a little later.
    expect((times[i] ?? 0) - (times[i - 1] ?? 0)).toBeGreaterThan(250 * 2 ** (i - 1) - 50);
  }
  const mark = await stack.recorder.count();
  await stack.ingest();
  await drained();
  expect(await outcome(stack, ids)).toMatchObject({ lost: 0, repeated: 0 });
  const priorities = ["event", "feedback", "log", "session", "transaction", "profile_chunk", "replay_event"];
  const order = (await recorded(stack)).slice(mark).map(({ items }) => priorities.indexOf(items[0]?.header.type ?? ""));
  expect(order).toHaveLength(ids.length);
  // Envelopes tried in the outage, and the 32 in flight, may be out of order; without any order it would be every other one.
  const inversions = order.filter((rank, i) => i > 0 && rank < (order[i - 1] ?? 0)).length;
  expect(inversions).toBeLessThan(ids.length / 4);
  const accepted = (await attempts()).filter(({ status }) => status === 200).map(({ at }) => at);
  // Longer than a second: the envelopes in flight while a container stalls, at most 32, arrive together.
  expect(most(accepted, 2_000)).toBeLessThanOrEqual(2 * rate + 32);
  await stack.replaceSpool();
});

test("a rate limit on replays: errors are delivered at once, replays when it is over", async () => {
  const seen = await recordRequests();
  await stack.ingest({
    item: "replay_event",
    status: 429,
    headers: { "x-sentry-rate-limits": "3:replay:organization:quota", "retry-after": "1" },
  });
  const replays = await sendMany(url, 20, "replay_event");
  await waitUntil(async () => (await seen()).length > 0);
  const errors = await sendMany(url, 20);
  await delivered(errors);
  // The replays are still queued: errors did not wait for them.
  expect((await outcome(stack, replays)).lost).toBe(replays.length);
  await stack.ingest();
  await delivered(replays);
  const limited = (await seen()).filter(({ status }) => status === 429).map(({ at }) => at);
  const accepted = (await seen()).filter(({ item, status }) => item === "replay_event" && status === 200);
  // Those in flight, each time that the limit has ended.
  expect(most(limited, 2_900)).toBeLessThanOrEqual(32);
  expect((accepted[0]?.at ?? 0) - (limited[0] ?? 0)).toBeGreaterThanOrEqual(2_900);
});

test("envelopes that are large when decompressed delay no others of their priority", async () => {
  const seen = await recordRequests();
  await stack.ingest({ status: 503 });
  // What the spool sends until it finds that out may be delivered in any order.
  await sendMany(url, 1);
  await waitUntil(async () => (await seen()).length > 0);
  const [large, small] = [Array.from({ length: 10 }, newId), Array.from({ length: 10 }, newId)];
  for (const id of [...large, ...small]) {
    const body = gzipSync(envelope("event", id, large.includes(id) ? 4 << 20 : 0));
    expect((await send(url, body, { "content-encoding": "gzip" })).status).toBe(200);
  }
  const mark = await stack.recorder.count();
  await stack.ingest();
  await delivered([...large, ...small]);
  const order = (await recorded(stack)).slice(mark).map(({ header }) => header.event_id);
  // Those that were tried in the outage, and those in flight together, may be out of order.
  expect(order.slice(0, small.length + 4)).toEqual(expect.arrayContaining(small));
});

test("400 is final: dropped and counted, and delays no other envelope", async () => {
  const seen = await recordRequests();
  await stack.ingest({ item: "transaction", status: 400 });
  await sendMany(url, 10, "transaction");
  await delivered(await sendMany(url, 10));
  await drained();
  expect(await metric(stack, 'dropped_total{reason="http_400",category="transaction"}')).toBe(10);
  expect(await seen()).toHaveLength(20);
});

test("envelopes of the highest priority that always fail do not block the others", async () => {
  await stack.ingest({ item: "event", cut: "body" });
  const failing = await sendMany(url, 3);
  await delivered(await sendMany(url, 100, "session"));
  expect(await metric(stack, 'queued_envelopes{category="error"}')).toBe(3);
  await stack.ingest();
  await delivered(failing);
});

test("connection cut after the ingest accepted it: sent again, and counted as redelivered", async () => {
  const mark = await stack.recorder.count();
  await stack.ingest({ cut: "answer" });
  const ids = await sendMany(url, 5, "log", 0, 1);
  await waitUntil(async () => (await stack.recorder.count()) > mark);
  await stack.ingest();
  await drained();
  const { lost, repeated } = await outcome(stack, ids);
  expect(lost).toBe(0);
  expect(repeated).toBeGreaterThan(0);
  expect(await metric(stack, 'redelivered_total{category="log_item"}')).toBeGreaterThan(0);
});

test("full: the lowest priority is evicted; exactly sent = delivered + dropped + rejected", async () => {
  await stack.replaceSpool(ownQueue, "--env=SPOOL_RATE=10000", "--env=SPOOL_MAX_MB=2");
  await stack.ingest({ status: 503 });
  const replays = await sendMany(url, 150, "replay_event", 20_000);
  expect(replays.length).toBeLessThan(150);
  const kept = [...(await sendMany(url, 10, "profile", 20_000)), ...(await sendMany(url, 20, "event", 20_000))];
  expect(kept).toHaveLength(30);
  expect(await metric(stack, "disk_bytes")).toBeLessThanOrEqual(2 << 20);
  await stack.ingest();
  await drained();
  expect(await outcome(stack, kept)).toEqual({ lost: 0, repeated: 0 });
  const { lost } = await outcome(stack, replays);
  expect(lost).toBeGreaterThan(0);
  expect(await metric(stack, 'dropped_total{reason="full",category="replay"}')).toBe(lost);
  expect(await metric(stack, 'delivered_total{category="replay"}')).toBe(replays.length - lost);
  const rejected = await metric(stack, 'rejected_total{status="503",reason="full",category="replay"}');
  expect(rejected).toBe(150 - replays.length);
  expect(await stack.logs()).toContain("culvert spool: SPOOL_MAX_MB is reached: lower priorities are evicted");
});

test("expired: dropped and counted, not sent", async () => {
  await stack.replaceSpool(ownQueue, "--env=SPOOL_MAX_AGE=2s");
  await stack.ingest({ status: 503 });
  const mark = await stack.recorder.count();
  await sendMany(url, 50);
  await drained();
  expect(await metric(stack, 'dropped_total{reason="age",category="error"}')).toBe(50);
  await stack.ingest();
  // These expire as well until the ingest's backoff is over.
  await waitUntil(async () => (await sendMany(url, 1, "session")) && (await stack.recorder.count()) > mark);
  const types = (await recorded(stack)).slice(mark).flatMap(({ items }) => items.map(({ header }) => header.type));
  expect(new Set(types)).toEqual(new Set(["session"]));
});

test("an https ingest is trusted only with its CA and under its name", async () => {
  const settings = ["--env=SENTRY_DSN=https://key@ingest/7", "--env=TUNNEL_ALLOWED_DSNS=https://key@other/8"];
  const seen = await recordRequests();
  const expectQueued = async (destination: string, reason: string) => {
    expect((await send(url, envelope(), { "x-spool-destination": destination })).status).toBe(200);
    await waitUntil(async () => (await stack.logs()).includes(`does not accept envelopes (${reason})`));
    expect(await metric(stack, "queued_envelopes")).toBe(1);
  };
  await stack.replaceSpool(ownQueue, ...settings);
  await expectQueued("https://ingest/api/7/envelope/", "DEPTH_ZERO_SELF_SIGNED_CERT");
  const trust = [`--volume=${folder}/server.crt:/ca:ro`, "--env=INGEST_CA_FILE=/ca"];
  await stack.replaceSpool(ownQueue, ...settings, ...trust);
  expect(await seen()).toEqual([]);
  expect((await send(url, envelope(), { "x-spool-destination": "https://ingest/api/7/envelope/" })).status).toBe(200);
  await drained();
  await expectQueued("https://other/api/8/envelope/", "ERR_TLS_CERT_ALTNAME_INVALID");
  expect(await seen()).toHaveLength(1);
  await stack.replaceSpool();
});

test("with another DSN, envelopes for the old one are neither sent nor lost, and the spool says so", async () => {
  const logs = (line: string) => waitUntil(async () => (await stack.logs()).includes(line));
  await stack.ingest({ status: 503 });
  const old = await sendMany(url, 10);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(0);

  await stack.replaceSpool("--env=SENTRY_DSN=http://key@ingest:9000/9");
  await stack.ingest();
  const mine = newId();
  await send(url, envelope("session", mine), { "x-spool-destination": "http://ingest:9000/api/9/envelope/" });
  // A lower priority than the envelopes for the old DSN: if those could be sent, they would be sent first.
  await delivered([mine]);
  expect((await outcome(stack, old)).lost).toBe(10);
  expect(await metric(stack, "undeliverable_envelopes")).toBe(10);
  await logs("10 envelopes are queued for an ingest that is in no configured DSN");
  // A proxy that still has the old DSN.
  expect(await send(url, envelope())).toEqual({ status: 403, body: { reason } });
  await logs("rejected envelopes for a DSN that this spool does not have");

  await stack.replaceSpool();
  await drained();
  expect(await outcome(stack, old)).toEqual({ lost: 0, repeated: 0 });
});
