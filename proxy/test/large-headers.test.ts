import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { page, useProxy } from "./use-proxy.ts";
import { send, sendH2 } from "./wire.ts";

const shared = useProxy();

const answerWith = (headers: Answer["headers"]) =>
  shared.proxy.web.answer({ ...page, headers: { ...page.headers, ...headers } });
const cookies = (count: number, size: number) =>
  Array.from({ length: count }, (_, i) => `c${i}=${"x".repeat(size - 3)}`);

test("60 kB of cookies of a response pass, also to the question whether web is ready", async () => {
  const headers = { "set-cookie": cookies(60, 1024) };
  await answerWith(headers);
  for (const by of [send, sendH2])
    expect((await shared.through({}, by)).answer).toMatchObject({ status: 200, body: page.body, headers });
  await shared.proxy.restart("proxy");
});

describe("response headers of more than 64 kB", () => {
  test.each([
    ["a page", "text/html", /^<!doctype html>.*the server’s response can’t be delivered/s],
    [
      "JSON",
      "application/json",
      /^\{"reason":"the app's response cannot be delivered","requestId":"[0-9a-f]{32}"\}\n$/,
    ],
  ])("get a 502 as %s, and the log says why", async (_, accept, body) => {
    await answerWith({ "set-cookie": cookies(70, 1024) });
    const { answer } = await shared.through({ headers: { accept } });
    expect(answer).toMatchObject({
      status: 502,
      body: expect.stringMatching(body),
      headers: { "content-type": expect.stringContaining(accept), "cache-control": "no-cache" },
    });
    expect((await shared.proxy.logged(answer.headers["x-request-id"])).reason).toBe("response_headers");
  });
});

describe("request headers", () => {
  test("of 14 kB, about all that Node takes, reach web", async () => {
    const cookie = cookies(14, 1000).join("; ");
    for (const by of [send, sendH2]) {
      const { answer, received } = await shared.through({ headers: { cookie } }, by);
      expect([answer.status, received.map((request) => headerOf(request, "cookie"))]).toEqual([200, [cookie]]);
    }
  });
  test("of 20 kB are web's to reject", async () => {
    // Node closes the connection without having read all of the request, so its answer can be cut off.
    const headers = { cookie: cookies(20, 1000).join("; "), accept: "text/html" };
    const ask = () => shared.through({ headers }).then(({ answer }) => [answer.status, answer.body]);
    await expect.poll(() => ask().catch((error: Error) => error.message)).toEqual([431, ""]);
  });
  // Over HTTP/2, Nginx closes the connection.
  test("of 40 kB, which Nginx rejects, get an error page that says so", async () => {
    const { answer } = await shared.through({ headers: { cookie: cookies(40, 1000).join("; ") } });
    expect(answer).toMatchObject({ status: 431, body: expect.stringContaining("cookies are too large") });
    expect(answer.headers["cache-control"]).toBe("no-cache");
  });
});
