import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { startReader } from "./run-suite.ts";

const node = (script: string, args: string[] = [], env = {}) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "..", script), ...args], { env: { ...process.env, ...env } });
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function reader(env: Record<string, string> = {}): Promise<string> {
  const { url, stop } = await startReader(env);
  stops.push(stop);
  return url;
}

/** A server in place of what the reader asks. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  stops.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ITEMS = '{"type":"event","length":2}\n{}\n';
const [A, B, C] = ["a", "b", "c"].map((letter) => letter.repeat(32)) as [string, string, string];
const envelope = (id: string, items = ITEMS) => `{"event_id":"${id}","trace":{"environment":"loadtest"}}\n${items}`;

/** Says that k6's target accepted these envelopes. */
async function sent(url: string, ids: string[], name = "error"): Promise<void> {
  const digest = createHash("sha256").update(ITEMS).digest("hex");
  for (const id of ids) {
    const header = JSON.parse(envelope(id).replace(/\n.*/s, ""));
    const more = { header, project: "7", size: ITEMS.length, digest };
    const body = JSON.stringify({ run: "r", name, id, traceId: `trace-${id}`, ...more });
    await fetch(`${url}/sent`, { method: "POST", body });
  }
}
const result = async (url: string, wait: number) => (await fetch(`${url}/result?run=r&wait=${wait}`)).json();

describe("the reader", () => {
  it("records an ingest's envelopes, and says what is missing and altered, by id", async () => {
    const url = await reader();
    await sent(url, [A, B, C]);
    const headers = { "content-encoding": "gzip" };
    const post = async (body: string) =>
      (await fetch(`${url}/prefix/api/7/envelope/`, { method: "POST", body: gzipSync(body), headers })).json();
    // The first line may differ: the spool renews sent_at.
    expect(await post(envelope(A).replace("{", `{"sent_at":"${new Date().toISOString()}",`))).toEqual({ id: A });
    await post(envelope(B, ITEMS.slice(0, -3)));
    await post(envelope(B));
    expect(await result(url, 0)).toMatchObject({
      source: "the recording ingest",
      sent: 3,
      missing: [{ id: C, traceId: `trace-${C}` }],
      altered: [{ id: B, how: expect.stringMatching(/^sent 31 bytes .* 28 bytes/) }],
      repeated: [{ id: B, how: "arrived 2 times" }],
      late: [expect.any(Number), expect.any(Number)],
    });
    expect(await (await fetch(`${url}/result?run=other&wait=0`)).json()).toMatchObject({ sent: 0 });
  });

  it("says how header and project of an envelope differ, and which actions ran twice", async () => {
    const url = await reader();
    await sent(url, [A]);
    const post = (body: string) => fetch(`${url}/api/8/envelope/`, { method: "POST", body });
    await post(envelope(A).replace("loadtest", "other"));
    const header = 'sent {"environment":"loadtest"}, got {"environment":"other"}';
    expect((await result(url, 0)).altered[0].how).toBe(`sent to project 7, arrived in 8; header trace: ${header}`);
    for (const traceId of ["t1", "t2", "unsampled"])
      await fetch(`${url}/sent`, { method: "POST", body: JSON.stringify({ run: "r", name: "action", traceId }) });
    for (const id of ["t1", "t2", "t2"])
      await post(`{"trace":{"trace_id":"${id}"}}\n{"type":"transaction"}\n{"transaction":"POST /form"}`);
    const ranTwice = [{ traceId: "t2", how: "the app ran it 2 times" }];
    expect(await result(url, 0)).toMatchObject({ sent: 1, actions: 2, ranTwice });
  });

  it("follows the local ingest's stream, also after it has restarted", async () => {
    let connections = 0;
    const spotlight = await serve((request, response) => {
      if (request.url !== "/stream") return void response.end(envelope(request.url?.endsWith("1") ? A : B));
      const id = `${++connections}`;
      const header = { trace: { environment: "loadtest" }, __spotlight_envelope_id: id };
      response.write(`data:${JSON.stringify([header, []])}\n\n`, () => id === "1" && request.socket.end());
    });
    const url = await reader({ SPOTLIGHT: spotlight });
    await sent(url, [A, B]);
    expect(await result(url, 20)).toMatchObject({ source: "the local ingest", sent: 2, missing: [], altered: [] });
  });

  it("ends at once if there is no local ingest to read from", () => {
    const { status, stdout } = node("reader.mjs", [], { SPOTLIGHT: "http://127.0.0.1:1" });
    expect([status, String(stdout)]).toEqual([1, ""]);
  });

  it("counts what has no event by its digest, and sees a sent_at of another decade", async () => {
    const url = await reader();
    const [id, at] = [createHash("sha256").update(ITEMS).digest("hex"), new Date().toISOString()];
    const one = {
      run: "r",
      name: "session",
      id,
      traceId: "t",
      header: { sent_at: at },
      size: ITEMS.length,
      digest: id,
    };
    await fetch(`${url}/sent`, { method: "POST", body: JSON.stringify(one) });
    const body = `{"sent_at":"2016-01-01T00:00:00Z"}\n${ITEMS}`;
    await fetch(`${url}/api/7/envelope/`, { method: "POST", body });
    const how = `header sent_at: sent ${at}, got 2016-01-01T00:00:00Z`;
    expect(await result(url, 0)).toMatchObject({ sent: 1, missing: [], altered: [{ id, how }] });
  });

  it("keeps an idle connection, on which k6 sends again after some seconds", async () => {
    const { headers } = await fetch(`${await reader()}/healthz`);
    expect(headers.get("keep-alive")).toBeNull();
  });
});
