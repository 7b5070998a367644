import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pageWith, useProxy } from "./use-proxy.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const shared = useProxy();

test("snippets/compressed-types.conf has what Next's own compression compresses, by mime-db", () => {
  const bundle = read("web/node_modules/next/dist/compiled/compression/index.js");
  const [, json = ""] = /JSON\.parse\('(\{"application\/1d-.*?\})'\)/.exec(bundle) ?? [];
  const known: Record<string, { compressible?: boolean; extensions?: string[] }> = JSON.parse(json);
  const isCompressible = (type: string) => known[type]?.compressible ?? /^text\/|\+(json|text|xml)$/.test(type);
  // Types of files and of JSON, no vendors'. Nginx' table holds few longer names.
  const isUsual = (type: string) =>
    (known[type]?.extensions || type.endsWith("+json")) && !/\/(vnd|prs)\./.test(type) && type.length <= 26;
  const ofApis = ["vnd.api", "graphql-response", "hal"];
  const more = ["text/javascript", ...ofApis.map((name) => `application/${name}+json`)];
  const usual = Object.keys(known).filter(isUsual);
  const types = [...new Set([...usual, ...more])].filter(isCompressible);
  const [, listed = ""] = /^gzip_types ([^;]*);/m.exec(read("proxy/snippets/compressed-types.conf")) ?? [];
  // Nginx always compresses it.
  expect([...listed.split(/\s+/), "text/html"].sort()).toEqual(types.sort());
});

test.each([
  ["application/json; charset=utf-8", "gzip"],
  ["application/graphql-response+json; charset=utf-8", "gzip"],
  ["image/png", undefined],
  ["text/event-stream", undefined],
])("%s is compressed: %s", async (type, encoding) => {
  await shared.proxy.web.answer({ ...pageWith({ "content-type": type }), body: "a".repeat(2_000) });
  const { answer } = await shared.through({ headers: { "accept-encoding": "gzip" } });
  expect(answer.headers["content-encoding"]).toBe(encoding);
});
