import { readFileSync } from "node:fs";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { type Edge, startEdge } from "./edge.ts";
import { page } from "./use-edge.ts";
import { send } from "./wire.ts";

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
const gone: Answer = { status: 404, headers: { "content-type": "text/html" }, body: "gone" };

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge?.stop());

const get = (path: string, headers = {}) => send(edge.port, { path, headers });

/** Asks, and returns the answer with how often web was asked for it. */
async function asked(path: string, headers = {}) {
  const mark = await edge.web.count();
  const answer = await get(path, headers);
  return { answer, requests: (await edge.web.count()) - mark };
}

describe("hashed files", () => {
  test("come from web once, then from the proxy, immutable and for everyone", async () => {
    await edge.web.answer(asset);
    expect((await asked("/_next/static/a.js", { cookie: "u=1" })).requests).toBe(1);
    const { answer, requests } = await asked("/_next/static/a.js", { cookie: "u=2" });
    expect(requests).toBe(0);
    expect(answer).toMatchObject({ status: 200, body: script });
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });
  test.each([
    ["br", "gzip, deflate, br, zstd", brotliDecompressSync],
    ["gzip", "gzip;q=1.0, *;q=0.5", gunzipSync],
  ])("are stored compressed with %s", async (encoding, accept, decompress) => {
    await edge.web.answer(asset);
    await get(`/_next/static/${encoding}.js`, { "accept-encoding": accept });
    await edge.web.answer(gone);
    const answer = await send(edge.port, {
      path: `/_next/static/${encoding}.js`,
      headers: { "accept-encoding": accept },
    });
    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(answer.headers.vary).toMatch(/accept-encoding/i);
    expect(decompress(answer.bytes).toString()).toBe(script);
  });
  test("survive a release of web that no longer has them, and a restart of the proxy", async () => {
    await edge.web.answer(asset);
    await get("/_next/static/old.js");
    await edge.web.answer(gone);
    expect((await get("/_next/static/old.js")).body).toBe(script);
    await edge.restart("proxy");
    expect((await get("/_next/static/old.js")).body).toBe(script);
  });
  test("that are missing stay 404, are asked for again, and are kept nowhere", async () => {
    await edge.web.answer(gone);
    expect((await asked("/_next/static/none.js")).answer).toMatchObject({
      status: 404,
      headers: { "cache-control": "no-store", "x-robots-tag": "noindex" },
    });
    await edge.web.answer(asset);
    expect((await get("/_next/static/none.js")).status).toBe(200);
  });
  test("are one file, whichever release asks for them", async () => {
    await edge.web.answer(asset);
    expect((await asked("/_next/static/shared.js?dpl=a")).requests).toBe(1);
    expect((await asked("/_next/static/shared.js?dpl=b")).requests).toBe(0);
  });
  test.each([
    "/x%2f..%2f_next%2fstatic%2fchunks%2fpoisoned.js",
    "/blog/..%2F_next/static/chunks/poisoned.js",
    "/blog/../_next/static/chunks/poisoned.js",
    "/blog/%2e%2e/_next/static/chunks/poisoned.js",
    "/_next/static/chunks/x%5c..%5c..%5cpoisoned.js",
    "//_next/static/chunks/poisoned.js",
    "/_next/static/x/../chunks/poisoned.js",
  ])("can't be replaced by a page whose address reads as theirs: %s", async (path) => {
    await edge.web.answer({ ...page, body: "a page" });
    expect(await asked(path)).toMatchObject({
      requests: 0,
      answer: { status: 404, headers: { "x-robots-tag": "noindex" } },
    });
    await edge.web.answer(asset);
    expect((await get("/_next/static/chunks/poisoned.js")).body).toBe(script);
  });
  test.each(["%5Bslug%5D/page-1.js", "[root]._.js", "(group)/~.js", "%28group%29/@slot/a.js", "...a.js"])(
    "are found by any name that Next gives one: %s",
    async (name) => {
      await edge.web.answer(asset);
      expect((await get(`/_next/static/chunks/${name}`)).body).toBe(script);
    },
  );
  test("of the one name that Next gives to every build with a deploymentId are kept by nobody", async () => {
    const built = readFileSync(new URL("../../web/node_modules/next/dist/build/index.js", import.meta.url), "utf8");
    const [, id] = /return '(build-\w+)'/.exec(built) ?? [];
    await edge.web.answer(asset);
    for (const release of ["a", "b"]) {
      const { answer, requests } = await asked(`/_next/static/${id}/_buildManifest.js?dpl=${release}`);
      expect(requests).toBe(1);
      expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
    }
  });
  test("are answered while web is down", async () => {
    await edge.web.answer(asset);
    await get("/_next/static/kept.js");
    await edge.on("web", "stop", "-t", "0");
    expect((await get("/_next/static/kept.js")).status).toBe(200);
    await edge.restart("web");
  });
});

describe("resized images", () => {
  const image: Answer = {
    status: 200,
    headers: { "content-type": "image/webp", "cache-control": "public, max-age=60", vary: "Accept" },
    body: "webp",
  };
  test("are kept as long as the app says, per format", async () => {
    await edge.web.answer(image);
    const path = "/_next/image?url=%2Fa.png&w=64&q=75";
    expect((await asked(path, { accept: "image/avif,image/webp,*/*" })).requests).toBe(1);
    expect((await asked(path, { accept: "image/webp,image/avif" })).requests).toBe(0);
    expect((await asked(path, { accept: "image/webp" })).requests).toBe(1);
  });
  test("can't be replaced by a page whose address reads as theirs", async () => {
    await edge.web.answer({ ...page, headers: { "cache-control": "public, s-maxage=60" } });
    const query = "?url=%2Fpoisoned.png&w=64&q=75";
    expect(await asked(`/x%2f..%2f_next%2fimage${query}`)).toMatchObject({ requests: 0, answer: { status: 404 } });
    await edge.web.answer(image);
    expect((await get(`/_next/image${query}`)).body).toBe("webp");
  });
  test("are not kept when the app says no", async () => {
    await edge.web.answer({ ...image, headers: { ...image.headers, "cache-control": "private, no-store" } });
    const path = "/_next/image?url=%2Fprivate.png&w=64&q=75";
    expect((await asked(path)).requests).toBe(1);
    expect((await asked(path)).requests).toBe(1);
  });
});

describe("nothing else is kept", () => {
  test.each(["/page", "/_next/data/x.json", "/api/x"])("%s", async (path) => {
    await edge.web.answer({ ...asset, headers: { "cache-control": "public, max-age=600" } });
    expect((await asked(path)).requests).toBe(1);
    expect((await asked(path)).requests).toBe(1);
  });
});

describe("while web is down", () => {
  beforeAll(async () => {
    await edge.on("web", "stop", "-t", "0");
  });
  test("readers get a page that tries again", async () => {
    const answer = await get("/page", { accept: "text/html,*/*" });
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject({
      "retry-after": "5",
      "cache-control": "no-store",
      "content-type": "text/html",
    });
    expect(answer.body).toContain('<meta name="robots" content="noindex">');
    expect(answer.headers["content-security-policy"]).toContain("nonce-");
  });
  test("programs get JSON", async () => {
    const answer = await get("/api/x", { accept: "application/json" });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body).reason).toBe("the app does not answer now; try again in a few seconds");
  });
  test("a POST gets the same, and reports go on", async () => {
    expect((await send(edge.port, { method: "POST", path: "/page", body: "a=1" })).status).toBe(503);
    expect((await send(edge.port, { method: "POST", path: "/monitoring", body: "{}\n" })).status).toBe(200);
  });
  test("its own page can't be asked for", async () => {
    expect((await get("/.culvert/unavailable.html")).status).toBe(404);
  });
});
