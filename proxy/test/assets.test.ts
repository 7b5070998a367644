import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, onTestFailed, test } from "vitest";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { ok, pageWith, useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

const script = "export const a = 1;\n".repeat(200);
const immutable = "public, max-age=31536000, immutable";
const asset: Answer = {
  status: 200,
  headers: {
    "content-type": "application/javascript; charset=UTF-8",
    "cache-control": immutable,
    "set-cookie": "a=1",
    vary: "Cookie",
  },
  body: script,
};
const gone: Answer = { ...pageWith({ "cache-control": immutable }), status: 404 };

const shared = useProxy();
/** One that is in no store, also in a second attempt. */
const newPath = () => `/_next/static/${Date.now()}.js`;
const answerWith = (answer: Answer) => shared.proxy.web.answer(answer);

async function asked(path: string, headers = {}) {
  const { answer, received } = await shared.through({ path, headers });
  return { ...answer, requests: received.length };
}

describe("hashed files", () => {
  beforeEach(() => answerWith(asset));

  test("come from web once, then from the proxy, immutable and for everyone, whichever release asks", async () => {
    const path = newPath();
    expect((await asked(`${path}?dpl=a`, { cookie: "u=1" })).requests).toBe(1);
    const answer = await asked(`${path}?dpl=b`, { cookie: "u=2" });
    expect(answer).toMatchObject({ requests: 0, status: 200, body: script, headers: { "cache-control": immutable } });
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });
  test.each([
    ["gzip;q=1.0, *;q=0.5", "gzip"],
    ["gzip, deflate, br;q=0.9, zstd", "gzip"],
    ["br, gzip;q=0", undefined],
  ])("are stored for a browser that accepts %s in this encoding: %s", async (accept, encoding) => {
    const path = `/_next/static/${encoding}.js`;
    await asked(path, { "accept-encoding": accept });
    await answerWith(gone);
    const answer = await asked(path, { "accept-encoding": accept });
    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(answer.headers.vary).toMatch(/accept-encoding/i);
    expect((encoding ? gunzipSync(answer.bytes) : answer.bytes).toString()).toBe(script);
  });
  test("that are missing stay 404, are asked for again, and are kept nowhere", async () => {
    const path = newPath();
    await answerWith(gone);
    const missing = { requests: 1, status: 404, headers: { "x-robots-tag": "noindex" } };
    for (let i = 0; i < 2; i++) expect(await asked(path)).toMatchObject(missing);
    await answerWith(asset);
    expect((await asked(path)).status).toBe(200);
  });
  test("for a page of another origin come from web, which may have headers for it; what web has not, from the store", async () => {
    const [path, origin] = ["/_next/static/font.js", "https://partner.example"];
    await asked(path);
    await answerWith({ ...asset, headers: { ...asset.headers, "content-language": "en" } });
    const { answer, header } = await shared.through({ path, headers: { origin } });
    expect([answer.headers["content-language"], header("origin")]).toEqual(["en", origin]);
    const sameOrigin = await asked(path, { origin, "sec-fetch-site": "same-origin" });
    expect([sameOrigin.requests, sameOrigin.headers["content-language"]]).toEqual([0, undefined]);
    for (const status of [404, 500, 503]) {
      await answerWith({ ...gone, status });
      expect(await asked(path, { origin })).toMatchObject({ status: 200, body: script });
    }
  });
  test.each([
    "/_next/%73tatic/chunks/poisoned.js",
    "/_next/static/./chunks/poisoned.js",
    "/_next/static//chunks/poisoned.js",
    "/_next/static/chunks\\poisoned.js",
    "/_next/static/chunks#/poisoned.js",
    "/_next/static/chunks/poisoned.js%23",
    "/_next/static/%2E%2e/static/chunks/poisoned.js",
    "/_next/static/chunks%2Fpoisoned.js",
    "/_next/static/chunks/%2570oisoned.js",
    "/_next/static/chunks/poisoned.js%00",
    "/x%2f..%2fy/_next/static/chunks/poisoned.js",
    `/_next/static/${"%5B".repeat(4_000)}/../chunks/poisoned.js`,
  ])("are asked for by no address that could be read as another: %s", async (path) => {
    await answerWith({ ...asset, body: "of another address" });
    // Written by hand: a client would tidy the address up.
    const lines = [`GET ${path} HTTP/1.1`, "Host: localhost", "Connection: close", "", ""];
    const { answer, received } = await shared.write(lines.join("\r\n"));
    expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(received).toEqual([]);
    await answerWith(asset);
    expect((await asked("/_next/static/chunks/poisoned.js")).body).toBe(script);
  });
  test.each([
    ["a page", "text/html; charset=utf-8", immutable],
    ["a flight payload", "text/x-component", immutable],
    ["not immutable", "application/javascript", "public, max-age=600"],
    ["private", "application/javascript", "private, max-age=600, immutable"],
  ])("are not stored if they are %s", async (_, type, cacheControl) => {
    const path = newPath();
    await answerWith({ ...asset, headers: { "content-type": type, "cache-control": cacheControl } });
    expect((await asked(path)).headers["cache-control"]).toBe(cacheControl);
    await answerWith(asset);
    expect(await asked(path)).toMatchObject({ requests: 1, status: 200, body: script });
  });
  test.each(["%5Bslug%5D/page-1.js", "(group)/~.js", "...a.js"])(
    "are found by any name that Next gives one: %s",
    async (name) => expect((await asked(`/_next/static/chunks/${name}`)).body).toBe(script),
  );
  test("of the one name that Next gives to every build with a deploymentId are not stored", async () => {
    const built = readFileSync(new URL("../../web/node_modules/next/dist/build/index.js", import.meta.url), "utf8");
    const [, id] = /return '(build-\w+)'/.exec(built) ?? [];
    const headers = { "cache-control": "no-store" };
    for (const release of ["a", "b"]) {
      const answer = await asked(`/_next/static/${id}/_buildManifest.js?dpl=${release}`);
      expect(answer).toMatchObject({ requests: 1, headers });
    }
  });
});

test.each(["/page", "/_next/image?url=%2Fa.png&w=64&q=75"])("nothing else is kept: %s", async (path) => {
  await answerWith({ ...asset, headers: { "cache-control": "public, max-age=600" } });
  for (let n = 0; n < 2; n++) expect((await asked(path)).requests).toBe(1);
});

describe("while web does not answer", () => {
  beforeEach(() => answerWith({ ...ok, instead: "reset" }));
  test.each([
    ["browsers", "text/html", /<meta name="robots" content="noindex">/],
    ["programs", "application/json", /"the app is not available now; try again in a few seconds"/],
  ])("%s get %s, and are told to try again", async (_, type, body) => {
    const headers = { "retry-after": "5", "cache-control": "no-cache", "content-type": type };
    const answer = await asked("/page", { accept: `${type},*/*` });
    expect(answer).toMatchObject({ status: 503, headers, body: expect.stringMatching(body) });
  });
  test.each([3, 2_000_000])("a POST of %i bytes gets the same", async (size) => {
    const { answer } = await shared.through({ method: "POST", body: Buffer.alloc(size, "a") });
    expect(answer).toMatchObject({ status: 503, body: expect.stringContaining("Back in a moment") });
  });
});

test("hashed files survive a release of web that no longer has them, a restart of the proxy, and web's end", async () => {
  await answerWith(asset);
  await asked("/_next/static/old.js");
  await answerWith(gone);
  expect((await asked("/_next/static/old.js")).body).toBe(script);
  await shared.proxy.restart("proxy");
  onTestFailed(() => shared.proxy.restart("web"));
  await shared.proxy.on("web", "stop", "-t", "0");
  expect((await send(shared.proxy.port, { path: "/_next/static/old.js" })).body).toBe(script);
});
