import { beforeEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { page, useProxy } from "./use-proxy.ts";
import { send, sendH2 } from "./wire.ts";

const shared = useProxy({}, { twoReplicas: true });

/** Both replicas answer so from now on. */
async function answerAll(headers: Answer["headers"] = {}): Promise<void> {
  const answer = { ...page, headers: { ...page.headers, ...headers } };
  await Promise.all([shared.proxy.web.answer(answer), shared.proxy.web2?.answer(answer)]);
}
beforeEach(() => answerAll());

const cookies = (count: number, size: number) =>
  Array.from({ length: count }, (_, i) => `c${i}=${"x".repeat(size - 3)}`);
const times = (count: number, path: string) =>
  Promise.all(Array.from({ length: count }, () => send(shared.proxy.port, { path })));

describe("headers of an answer", () => {
  const links = Array.from(
    { length: 40 },
    (_, i) => `</_next/image?url=%2Fgallery%2Fphoto-${i}.jpg&w=1200&q=75>; rel=preload; as="image"; imagesrcset="x"`,
  ).join(", ");
  test.each([
    ["four cookies of 1 kB", { "set-cookie": cookies(4, 1024) }],
    ["the Link header of a page that preloads 40 images", { link: links }],
    ["60 kB of cookies", { "set-cookie": cookies(60, 1024) }],
  ])("pass: %s", async (_, headers: Answer["headers"]) => {
    await answerAll(headers);
    for (const by of [send, sendH2]) {
      const answer = await by(shared.proxy.port, { path: "/page" });
      expect(answer).toMatchObject({ status: 200, body: page.body, headers });
    }
  });
  test("pass to the question whether web is ready as well", async () => {
    await answerAll({ "set-cookie": cookies(8, 1024) });
    await shared.proxy.restart("proxy");
    expect((await shared.through()).answer.status).toBe(200);
  });
});

describe("headers of more than 64 kB", () => {
  beforeEach(() => answerAll({ "set-cookie": cookies(70, 1024) }));

  test.each([
    ["a page", "text/html", /^<!doctype html>.*the server’s response can’t be delivered/s],
    [
      "JSON",
      "application/json",
      /^\{"reason":"the app's response cannot be delivered","requestId":"[0-9a-f]{32}"\}\n$/,
    ],
  ])("get a 502 as %s, and the log says why", async (_, accept, body) => {
    const answer = await send(shared.proxy.port, { path: "/large", headers: { accept } });
    expect(answer).toMatchObject({
      status: 502,
      body: expect.stringMatching(body),
      headers: { "content-type": expect.stringContaining(accept), "cache-control": "no-cache" },
    });
    const id = answer.headers["x-request-id"];
    const line = async () =>
      (await shared.proxy.on("proxy", "logs")).split("\n").find((one) => one.includes(String(id)));
    await expect.poll(line).toMatch(/"reason":"response_headers"/);
  });
  test("count against no replica: other pages go on at once", async () => {
    expect((await times(20, "/large")).map(({ status }) => status)).toEqual(Array(20).fill(502));
    await answerAll();
    expect((await times(20, "/page")).map(({ status }) => status)).toEqual(Array(20).fill(200));
  });
});

describe("headers of a request", () => {
  test.each([
    ["HTTP/1.1", send],
    ["HTTP/2", sendH2],
  ])("of 14 kB, about all that Node takes, reach web over %s", async (_, by) => {
    const cookie = cookies(14, 1000).join("; ");
    const marks = [await shared.proxy.web.count(), (await shared.proxy.web2?.count()) ?? 0] as const;
    expect((await by(shared.proxy.port, { path: "/page", headers: { cookie } })).status).toBe(200);
    const all = [...(await shared.proxy.web.all(marks[0])), ...((await shared.proxy.web2?.all(marks[1])) ?? [])];
    expect(all.map((request) => headerOf(request, "cookie"))).toEqual([cookie]);
  });
});

test("cookies of 20 kB are web's to reject", async () => {
  // Node closes the connection without having read all of the request, so its answer can be cut off.
  const headers = { cookie: cookies(20, 1000).join("; "), accept: "text/html" };
  const ask = () => send(shared.proxy.port, { path: "/page", headers }).then(({ status, body }) => [status, body]);
  await expect.poll(() => ask().catch((error: Error) => error.message)).toEqual([431, ""]);
});

// Over HTTP/2, Nginx closes the connection.
test("cookies of 40 kB, which Nginx rejects, get an error page that says so", async () => {
  const cookie = cookies(40, 1000).join("; ");
  const page = await send(shared.proxy.port, { path: "/page", headers: { cookie } });
  expect(page).toMatchObject({ status: 431, body: expect.stringContaining("cookies are too large") });
});
