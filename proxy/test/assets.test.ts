import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { raw, send } from "./wire.ts";

const script = "export const a = 1;\n".repeat(200);
const asset: Answer = {
  status: 200,
  headers: {
    "content-type": "application/javascript; charset=UTF-8",
    "set-cookie": "a=1",
    "cache-control": "public, max-age=31536000, immutable",
    vary: "Cookie",
  },
  body: script,
};
const gone: Answer = {
  status: 404,
  headers: { "content-type": "text/html", "cache-control": "public, max-age=600, immutable" },
  body: "gone",
};

let proxy: TestProxy;
beforeAll(async () => {
  proxy = await startProxy();
});
afterAll(() => proxy?.stop());

const get = (path: string, headers = {}) => send(proxy.port, { path, headers });

/** Asks, and returns the answer with how often web was asked for it. */
async function asked(path: string, headers = {}) {
  const mark = await proxy.web.count();
  const answer = await get(path, headers);
  return { answer, requests: (await proxy.web.count()) - mark };
}

describe("hashed files", () => {
  test("come from web once, then from the proxy, immutable and for everyone", async () => {
    await proxy.web.answer(asset);
    expect((await asked("/_next/static/a.js", { cookie: "u=1" })).requests).toBe(1);
    const { answer, requests } = await asked("/_next/static/a.js", { cookie: "u=2" });
    expect(requests).toBe(0);
    expect(answer).toMatchObject({ status: 200, body: script });
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });
  test.each([
    ["compressed", "gzip;q=1.0, *;q=0.5", "gzip"],
    ["compressed", "gzip, deflate, br;q=0.9, zstd", "gzip"],
    ["as they are", "br, gzip;q=0", undefined],
  ])("are stored %s for a browser that accepts %s", async (_, accept, encoding) => {
    const path = `/_next/static/${encoding}.js`;
    await proxy.web.answer(asset);
    await get(path, { "accept-encoding": accept });
    await proxy.web.answer(gone);
    const answer = await get(path, { "accept-encoding": accept });
    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(answer.headers.vary).toMatch(/accept-encoding/i);
    expect((encoding ? gunzipSync(answer.bytes) : answer.bytes).toString()).toBe(script);
  });
  test("survive a release of web that no longer has them, and a restart of the proxy", async () => {
    await proxy.web.answer(asset);
    await get("/_next/static/old.js");
    await proxy.web.answer(gone);
    expect((await get("/_next/static/old.js")).body).toBe(script);
    await proxy.restart("proxy");
    expect((await get("/_next/static/old.js")).body).toBe(script);
  });
  test("that are missing stay 404, are asked for again, and are kept nowhere", async () => {
    await proxy.web.answer(gone);
    for (let i = 0; i < 2; i++)
      expect(await asked("/_next/static/none.js")).toMatchObject({
        requests: 1,
        answer: { status: 404, headers: { "x-robots-tag": "noindex" } },
      });
    await proxy.web.answer(asset);
    expect((await get("/_next/static/none.js")).status).toBe(200);
  });
  test("are one file, whichever release asks for them", async () => {
    await proxy.web.answer(asset);
    expect((await asked("/_next/static/shared.js?dpl=a")).requests).toBe(1);
    expect((await asked("/_next/static/shared.js?dpl=b")).requests).toBe(0);
  });
  test.each([
    "/x%2f..%2f_next%2fstatic/chunks/poisoned.js",
    "/blog/../_next/static/chunks/poisoned.js",
    "//_next/static/chunks/poisoned.js",
    "/_next/%73tatic/chunks/poisoned.js",
    "/_next/static/./chunks/poisoned.js",
    "/_next/static/x/../chunks/poisoned.js",
    "/_next/static//chunks/poisoned.js",
    "/_next/static/chunks\\poisoned.js",
    "/_next/static/chunks%5cpoisoned.js",
    "/_next/static/chunks#/poisoned.js",
    "/_next/static/chunks/poisoned.js%23",
    "/_next/static/%2E%2e/static/chunks/poisoned.js",
    "/_next/static/chunks%2Fpoisoned.js",
    "/_next/static/chunks/poisoned.js%3Fx",
    "/_next/static/chunks/%2570oisoned.js",
    "/_next/static/chunks/poisoned.js%00",
    `/_next/static/${"%5B".repeat(4_000)}/../chunks/poisoned.js`,
  ])("are asked for by no address that could be read as another: %s", async (path) => {
    await proxy.web.answer({ ...asset, body: "of another address" });
    const mark = await proxy.web.count();
    // Written by hand: a client would tidy the address up.
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    expect(await raw(proxy.port, request)).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(await proxy.web.count()).toBe(mark);
    await proxy.web.answer(asset);
    expect((await get("/_next/static/chunks/poisoned.js")).body).toBe(script);
  });
  test.each([
    ["a page", "text/html; charset=utf-8", "public, max-age=31536000, immutable"],
    ["a flight payload", "text/x-component", "public, max-age=31536000, immutable"],
    ["not immutable", "application/javascript", "public, max-age=600"],
    ["private", "application/javascript", "private, max-age=600, immutable"],
  ])("are not stored if they are %s", async (what, type, cacheControl) => {
    const path = `/_next/static/chunks/${what.replaceAll(" ", "-")}.js`;
    await proxy.web.answer({ ...asset, headers: { "content-type": type, "cache-control": cacheControl } });
    expect((await get(path)).headers["cache-control"]).toBe(cacheControl);
    await proxy.web.answer(asset);
    expect(await asked(path)).toMatchObject({ requests: 1, answer: { status: 200, body: script } });
  });
  test.each(["%5Bslug%5D/page-1.js", "[root]._.js", "(group)/~.js", "%28group%29/@slot/a.js", "...a.js"])(
    "are found by any name that Next gives one: %s",
    async (name) => {
      await proxy.web.answer(asset);
      expect((await get(`/_next/static/chunks/${name}`)).body).toBe(script);
    },
  );
  test("of the one name that Next gives to every build with a deploymentId are not stored", async () => {
    const built = readFileSync(new URL("../../web/node_modules/next/dist/build/index.js", import.meta.url), "utf8");
    const [, id] = /return '(build-\w+)'/.exec(built) ?? [];
    await proxy.web.answer(asset);
    for (const release of ["a", "b"]) {
      const { answer, requests } = await asked(`/_next/static/${id}/_buildManifest.js?dpl=${release}`);
      expect(requests).toBe(1);
      expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
    }
  });
  test("are answered while web is down", async () => {
    await proxy.web.answer(asset);
    await get("/_next/static/kept.js");
    await proxy.on("web", "stop", "-t", "0");
    expect((await get("/_next/static/kept.js")).status).toBe(200);
    await proxy.restart("web");
  });
});

describe("resized images", () => {
  const image: Answer = {
    status: 200,
    headers: { "content-type": "image/webp", "cache-control": "public, max-age=60", vary: "Accept" },
    body: "webp",
  };
  test("are kept as long as the app says, per format", async () => {
    await proxy.web.answer(image);
    const path = "/_next/image?url=%2Fa.png&w=64&q=75";
    expect((await asked(path, { accept: "image/avif,image/webp,*/*" })).requests).toBe(1);
    expect((await asked(path, { accept: "image/webp,image/avif" })).requests).toBe(0);
    expect((await asked(path, { accept: "image/webp" })).requests).toBe(1);
  });
  test.each([
    ["image/avif,image/webp,image/apng,*/*;q=0.8", "image/avif,image/webp"],
    ["image/webp,image/avif", "image/avif,image/webp"],
    ["image/webp,*/*", "image/webp"],
    ["image/avif", "image/avif"],
    ["image/png,*/*", undefined],
  ])("are asked for in every format that the browser takes, without its headers: %s", async (accept, expected) => {
    await proxy.web.answer({ ...image, headers: { ...image.headers, "cache-control": "no-store" } });
    const mark = await proxy.web.count();
    const theirs = {
      authorization: "Bearer x",
      cookie: "a=1",
      "accept-language": "fr",
      "user-agent": "a browser",
      "x-tenant": "a",
    };
    await get("/_next/image?url=%2Fformats.png&w=64&q=75", { accept, ...theirs });
    const [request] = await proxy.web.all(mark);
    if (!request) throw new Error("web was not asked");
    expect([headerOf(request, "accept"), headerOf(request, "host")]).toEqual([expected, `localhost:${proxy.port}`]);
    expect(Object.keys(theirs).filter((name) => headerOf(request, name) !== undefined)).toEqual([]);
  });
  test("are one image, whatever else stands in the address and however it is written", async () => {
    await proxy.web.answer(image);
    const mark = await proxy.web.count();
    const one = "url=%2Fone.png%3Fa%3D1%26b&w=64&q=75";
    for (const path of [
      `/_next/image?${one}`,
      "/_next/image?q=75&w=64&url=%2Fone.png%3Fa%3D1%26b&dpl=a",
      `/_next/image?${one}&q=1&url=x`,
      `/x%2f..%2f_next%2fimage?${one}`,
    ])
      expect((await get(path)).body, path).toBe("webp");
    expect((await proxy.web.all(mark)).map(({ url }) => url)).toEqual([`/_next/image?${one}`]);
  });
  test("are not kept when the app says no", async () => {
    await proxy.web.answer({ ...image, headers: { ...image.headers, "cache-control": "private, no-store" } });
    const path = "/_next/image?url=%2Fprivate.png&w=64&q=75";
    for (let n = 0; n < 2; n++) expect((await asked(path)).requests).toBe(1);
  });
});

test.each(["/page", "/_next/data/x.json", "/api/x"])("nothing else is kept: %s", async (path) => {
  await proxy.web.answer({ ...asset, headers: { "cache-control": "public, max-age=600" } });
  for (let n = 0; n < 2; n++) expect((await asked(path)).requests).toBe(1);
});

describe("while web is down", () => {
  beforeAll(async () => {
    await proxy.on("web", "stop", "-t", "0");
  });
  test("browsers get a page that tries again", async () => {
    const answer = await get("/page", { accept: "text/html,*/*" });
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject({
      "retry-after": "5",
      "cache-control": "no-cache",
      "content-type": "text/html",
    });
    expect(answer.body).toContain('<meta name="robots" content="noindex">');
    expect(answer.headers["content-security-policy"]).toContain("style-src 'sha256-");
  });
  test("programs get JSON", async () => {
    const answer = await get("/api/x", { accept: "application/json" });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body).reason).toBe("the app is not available now; try again in a few seconds");
  });
  test.each([3, 2_000_000])("a POST of %i bytes gets the same, and envelopes still pass", async (size) => {
    const answer = await send(proxy.port, { method: "POST", path: "/page", body: Buffer.alloc(size, "a") });
    expect(answer).toMatchObject({ status: 503, body: expect.stringContaining("Back in a moment") });
    expect((await send(proxy.port, { method: "POST", path: "/monitoring", body: "{}\n" })).status).toBe(200);
  });
  test("its own page can't be asked for", async () => {
    expect((await get("/.culvert/unavailable.html")).status).toBe(404);
  });
});
