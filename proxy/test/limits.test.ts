import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { changed, page, pageWith, trusting, useProxy } from "./use-proxy.ts";
import { type Request, send, sendH2 } from "./wire.ts";

const shared = useProxy({ MAX_BODY_SIZE: "3m", RESPONSE_TIMEOUT: "5s" });

async function expectError(status: number, request: Partial<Request>, text: RegExp, reason: RegExp) {
  const ask = (accept: string) => shared.through({ ...request, headers: { accept } });
  const [asBrowser, asProgram] = [await ask("text/html"), await ask("application/json")];
  expect(asBrowser.answer).toMatchObject({ status, body: expect.stringMatching(/^<!doctype html>/) });
  expect(asBrowser.answer.body).toMatch(text);
  const headers = { "content-type": "application/json", "cache-control": "no-cache" };
  expect(asProgram.answer).toMatchObject({ status, body: expect.stringMatching(reason), headers });
  return asBrowser;
}

describe("a body", () => {
  test.each([
    ["HTTP/1.1", send, {}],
    ["HTTP/2", sendH2, {}],
    ["HTTP/1.1, without its length", send, { "transfer-encoding": "chunked" }],
  ])("of less than MAX_BODY_SIZE reaches web whole over %s", async (_, by, headers) => {
    for (const size of [10, 900_000, 3_000_000]) {
      const { answer, received } = await shared.through({ method: "POST", body: Buffer.alloc(size), headers }, by);
      expect([answer.status, Buffer.from(received[0]?.body ?? "", "base64").length]).toEqual([200, size]);
    }
  });
  test("of more gets 413, and nothing reaches web", async () => {
    const request = { method: "POST", body: Buffer.alloc(4_000_000) };
    const reason = /^\{"reason":"the request body is larger than this site accepts"/;
    const { answer, received } = await expectError(413, request, /That is too large/, reason);
    expect([answer.headers["retry-after"], received]).toEqual([undefined, []]);
  });
});

// Less than two of Nginx' own timeouts, which are 60 s.
test("silence for RESPONSE_TIMEOUT ends in 504; no other replica is asked", {
  timeout: 110_000,
}, async () => {
  await shared.proxy.web.answer({ ...page, instead: "hang" });
  const reason = /^\{"reason":"the app took too long to respond"/;
  const { answer, received } = await expectError(504, {}, /the server took too long/, reason);
  expect(received).toHaveLength(1);
  const [, style = ""] = /<style>(.*)<\/style>/s.exec(answer.body) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  expect(answer.headers["content-security-policy"]).toContain(`default-src 'none'; style-src 'sha256-${hash}'`);
});

const cookies = (count: number, size: number) =>
  Array.from({ length: count }, (_, i) => `c${i}=${"x".repeat(size - 3)}`);

test("60 kB of cookies of a response pass, also to the question whether web is ready", async () => {
  const headers = { "set-cookie": cookies(60, 1024) };
  await shared.proxy.web.answer(pageWith(headers));
  for (const by of [send, sendH2])
    expect((await shared.through({}, by)).answer).toMatchObject({ status: 200, body: page.body, headers });
  await shared.proxy.restart("proxy");
});

test("response headers of more than 64 kB get a 502, and the log says why", async () => {
  await shared.proxy.web.answer(pageWith({ "set-cookie": cookies(70, 1024) }));
  const reason = /^\{"reason":"the app's response cannot be delivered","requestId":"[0-9a-f]{32}"\}\n$/;
  const { answer } = await expectError(502, {}, /the server’s response can’t be delivered/, reason);
  expect((await shared.proxy.logged(answer.headers["x-request-id"])).reason).toBe("response_headers");
});

// Over HTTP/2, Nginx closes the connection.
test("request headers of 40 kB, which Nginx rejects, get an error page that says so", async () => {
  const { answer } = await shared.through({ headers: { cookie: cookies(40, 1000).join("; ") } });
  expect(answer).toMatchObject({ status: 431, body: expect.stringContaining("cookies are too large") });
  expect(answer.headers["cache-control"]).toBe("no-cache");
});

describe("a client that pauses for longer than two minutes", () => {
  const timeouts = (header: string, body: string) =>
    `client_header_timeout ${header};\nclient_body_timeout ${body};\nsend_timeout 2m;`;
  const mounts = changed("snippets/timeouts.conf", { [timeouts("60s", "2m")]: timeouts("3s", "3s") });
  const shared = useProxy(trusting, { mounts });

  test("within its headers is disconnected, and nothing reaches web", async () => {
    expect((await shared.write("GET /slow HTTP/1.1\r\nHost: localhost\r\nX-A: ")).received).toEqual([]);
  });
  test("within a body is disconnected, and the log says why", async () => {
    const slow = { form: 100, upload: 20_000, monitoring: 100 };
    const begun = Object.entries(slow).map(([name, length]) => {
      const headers = ["Host: localhost", `X-Request-Id: slow-${name}`, `Content-Length: ${length}`].join("\r\n");
      return shared.write(`POST /${name} HTTP/1.1\r\n${headers}\r\n\r\nabc`);
    });
    for (const { received } of await Promise.all(begun)) expect(received).toEqual([]);
    for (const name of Object.keys(slow))
      expect(await shared.proxy.logged(`slow-${name}`)).toMatchObject({ status: 408, reason: "client_timeout" });
  });
  test("is told from an app that answers 408", async () => {
    await shared.proxy.web.answer({ ...page, status: 408 });
    await shared.through({ path: "/answers-408" });
    expect(await shared.proxy.logged("/answers-408")).toMatchObject({ status: 408, reason: "" });
  });
});
