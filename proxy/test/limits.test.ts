import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { page, useProxy } from "./use-proxy.ts";
import { send, sendH2 } from "./wire.ts";

const shared = useProxy({ MAX_BODY_SIZE: "3m", RESPONSE_TIMEOUT: "2s" });

const post = (size: number, headers = {}) => ({ method: "POST", body: Buffer.alloc(size, "a"), headers });

describe("a body", () => {
  test.each([
    ["HTTP/1.1", send, {}],
    ["HTTP/2", sendH2, {}],
    ["HTTP/1.1, without its length", send, { "transfer-encoding": "chunked" }],
  ])("of less than MAX_BODY_SIZE reaches web whole over %s", async (_, by, headers) => {
    for (const size of [10, 900_000, 3_000_000]) {
      const { answer, received } = await shared.through(post(size, headers), by);
      expect([answer.status, Buffer.from(received[0]?.body ?? "", "base64").length]).toEqual([200, size]);
    }
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
test.each([
  ["a page", "text/html", /^<!doctype html>.*the server took too long/s],
  ["JSON", "application/json", /^\{"reason":"the app took too long to respond"/],
])(
  "an app that is silent for RESPONSE_TIMEOUT ends in 504 as %s; no other replica is asked",
  {
    timeout: 50_000,
  },
  async (_, accept, body) => {
    await shared.proxy.web.answer({ ...page, instead: "hang" });
    const { answer, received } = await shared.through({ headers: { accept } });
    expect(answer).toMatchObject({ status: 504, body: expect.stringMatching(body) });
    expect(received).toHaveLength(1);
    // The policy allows the page's own style.
    const [, style = ""] = /<style>(.*)<\/style>/s.exec(answer.body) ?? [];
    const hash = style && `'sha256-${createHash("sha256").update(style).digest("base64")}'`;
    expect(answer.headers["content-security-policy"]).toContain(`default-src 'none'; style-src ${hash || "'sha256-"}`);
  },
);
