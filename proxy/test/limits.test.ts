import { createHash } from "node:crypto";
import { request } from "node:https";
import { beforeEach, describe, expect, test } from "vitest";
import { page, useProxy } from "./use-proxy.ts";
import { send, sendH2 } from "./wire.ts";

const shared = useProxy({ MAX_BODY_SIZE: "3m", RESPONSE_TIMEOUT: "2s" });
beforeEach(() => shared.proxy.web.answer(page));

const clients = [
  ["HTTP/1.1", send],
  ["HTTP/2", sendH2],
] as const;
const post = (size: number, headers = {}) => ({
  method: "POST",
  path: "/upload",
  body: Buffer.alloc(size, "a"),
  headers,
});

/** How many bytes waiting bodies use in memory (their files have no name), the maximum of ten samples. */
const used = async () => {
  const look = "for _ in 1 2 3 4 5 6 7 8 9 10; do df --block-size=1 --output=used /tmp; done";
  const output = await shared.proxy.on("proxy", "exec", "sh", "-c", look);
  return Math.max(...[...output.matchAll(/^ *(\d+)$/gm)].map(([, used]) => Number(used)));
};

describe("a body", () => {
  test.each(clients)("of less than MAX_BODY_SIZE reaches web whole over %s", async (_, by) => {
    for (const size of [10, 900_000, 3_000_000]) {
      const mark = await shared.proxy.web.count();
      expect((await by(shared.proxy.port, post(size))).status).toBe(200);
      const [received] = await shared.proxy.web.all(mark);
      expect(Buffer.from(received?.body ?? "", "base64").length).toBe(size);
    }
  });
  test("of unknown length reaches web whole", async () => {
    const mark = await shared.proxy.web.count();
    expect((await send(shared.proxy.port, post(2_000_000, { "transfer-encoding": "chunked" }))).status).toBe(200);
    const [received] = await shared.proxy.web.all(mark);
    expect(Buffer.from(received?.body ?? "", "base64").length).toBe(2_000_000);
  });
  test.each([
    ["with its length", { "content-length": "2000000" }],
    ["chunked", { "transfer-encoding": "chunked" }],
  ])("of 2 MB goes to web as it comes, %s: it waits nowhere", async (_, headers: Record<string, string>) => {
    const outgoing = request({
      ...{ host: "127.0.0.1", port: shared.proxy.port, method: "POST", path: "/upload", agent: false },
      ...{ rejectUnauthorized: false, headers: { host: "localhost", ...headers } },
    });
    const status = new Promise((resolve, reject) => {
      outgoing.on("response", (answer) => resolve(answer.resume().statusCode)).on("error", reject);
    });
    const before = await used();
    await new Promise((resolve) => outgoing.write(Buffer.alloc(1_000_000), resolve));
    // Half of the body is on its way, and stays so.
    expect((await used()) - before).toBeLessThan(500_000);
    outgoing.end(Buffer.alloc(1_000_000));
    expect(await status).toBe(200);
  });
  test.each([
    ["a page", "text/html", /^<!doctype html>.*That is too large/s],
    ["JSON", "application/json", /^\{"reason":"the request body is larger than this site accepts"/],
  ])("of more gets 413 as %s, and nothing reaches web", async (_, accept, body) => {
    const { answer, received } = await shared.through(post(4_000_000, { accept }));
    expect(answer).toMatchObject({ status: 413, body: expect.stringMatching(body) });
    expect(answer.headers["retry-after"]).toBeUndefined();
    expect(received).toEqual([]);
  });
});

// Nginx' own timeout is 60 s.
describe("an app that is silent for RESPONSE_TIMEOUT", { timeout: 50_000 }, () => {
  test.each([
    ["a page", "text/html", /^<!doctype html>.*the server took too long/s],
    ["JSON", "application/json", /^\{"reason":"the app took too long to respond"/],
  ])("ends in 504 as %s; no other replica is asked", async (_, accept, body) => {
    await shared.proxy.web.answer({ ...page, instead: "hang" });
    const { answer, received } = await shared.through({ path: "/slow", headers: { accept } });
    expect(answer).toMatchObject({ status: 504, body: expect.stringMatching(body) });
    expect(answer.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(received).toHaveLength(1);
  });

  test("ends in a page whose style its policy allows", async () => {
    await shared.proxy.web.answer({ ...page, instead: "hang" });
    const { answer } = await shared.through({ path: "/slow", headers: { accept: "text/html" } });
    const style = answer.body.match(/<style>(.*)<\/style>/s)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(answer.headers["content-security-policy"]).toContain(`style-src 'sha256-${hash}';`);
  });
});
