import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { startReader } from "./run-suite.ts";
import { listen } from "./stub.ts";

async function reader(env: Record<string, string> = {}): Promise<string> {
  const { url, stop } = await startReader(env);
  onTestFinished(stop);
  return url;
}

const ITEMS = '{"type":"event","length":2}\n{}\n';
const [A, B] = ["a", "b"].map((letter) => letter.repeat(32)) as [string, string];
const envelope = (id: string) => `{"event_id":"${id}","trace":{"environment":"loadtest"}}\n${ITEMS}`;

async function sent(url: string, ids: string[]): Promise<void> {
  const digest = createHash("sha256").update(ITEMS).digest("hex");
  for (const id of ids) {
    const header = JSON.parse(envelope(id).replace(/\n.*/s, ""));
    const more = { header, project: "7", size: ITEMS.length, digest };
    await fetch(`${url}/sent`, { method: "POST", body: JSON.stringify({ run: "r", id, traceId: "t", ...more }) });
  }
}
const result = async (url: string, wait: number) => (await fetch(`${url}/result?run=r&wait=${wait}`)).json();

// faults.test.ts has what it finds in envelopes that are lost, changed, repeated or late.
describe("the reader", () => {
  it("records what the spool delivers: compressed, with a new sent_at", async () => {
    const url = await reader();
    await sent(url, [A]);
    const body = gzipSync(envelope(A).replace("{", `{"sent_at":"${new Date().toISOString()}",`));
    const request = { method: "POST", body, headers: { "content-encoding": "gzip" } };
    expect(await (await fetch(`${url}/prefix/api/7/envelope/`, request)).json()).toEqual({ id: A });
    expect(await result(url, 0)).toMatchObject({ source: "the recording ingest", sent: 1, missing: [], altered: [] });
  });

  it("follows the local ingest's stream, also after it has restarted", async () => {
    let connections = 0;
    const spotlight = await listen((request, response) => {
      if (request.url !== "/stream") return void response.end(envelope(request.url?.endsWith("1") ? A : B));
      const id = `${++connections}`;
      const header = { trace: { environment: "loadtest" }, __spotlight_envelope_id: id };
      response.write(`data:${JSON.stringify([header, []])}\n\n`, () => id === "1" && request.socket.end());
    });
    const url = await reader({ SPOTLIGHT: spotlight });
    await sent(url, [A, B]);
    expect(await result(url, 60)).toMatchObject({ source: "the local ingest", sent: 2, missing: [], altered: [] });
  });

  it("says if there is no local ingest to read from", async () => {
    const env = { ...process.env, PORT: "0", SPOTLIGHT: "http://127.0.0.1:1" };
    const child = spawn(process.execPath, [join(import.meta.dirname, "../reader.mjs")], { env });
    onTestFinished(() => void child.kill());
    const [line] = await once(child.stdout, "data");
    expect(String(line)).toMatch(/^\d+ \n$/);
  });

  it("keeps the failures of each run for its summary", async () => {
    const url = await reader();
    for (const run of ["r", "s", "r"])
      await fetch(`${url}/failure`, { method: "POST", body: JSON.stringify({ run, check: "page_ok", text: run }) });
    expect(await (await fetch(`${url}/failures?run=r`)).json()).toEqual([{ run: "r", check: "page_ok", text: "r" }]);
  });

  it("keeps an idle connection, on which k6 sends again after some seconds", async () => {
    const { headers } = await fetch(`${await reader()}/healthz`);
    expect(headers.get("keep-alive")).toBeNull();
  });
});
