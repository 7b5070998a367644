import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { page, useProxy } from "./use-proxy.ts";

const from = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const shared = useProxy();

/** What Next's own compression knows of media types: mime-db. */
function mimeDb(): [type: string, { compressible?: boolean; extensions?: string[] }][] {
  const bundle = readFileSync(from("web/node_modules/next/dist/compiled/compression/index.js"), "utf8");
  const [, json] = /JSON\.parse\('(\{"application\/1d-.*?\})'\)/.exec(bundle) ?? [];
  return Object.entries(JSON.parse(String(json)));
}

test("snippets/compressed-types.conf has what Next compresses; `npm --prefix proxy/test test compression -- -u` writes it", async () => {
  const types = mimeDb()
    .filter(([type, { compressible }]) => compressible ?? /^text\/|\+(json|text|xml)$/.test(type))
    .filter(
      ([type, { extensions }]) =>
        ["text/javascript", "application/vnd.api+json"].includes(type) ||
        ((extensions || type.endsWith("+json")) && !/\/(vnd|prs)\./.test(type) && type.length <= 26),
    )
    .map(([type]) => type)
    // Nginx always compresses it.
    .filter((type) => type !== "text/html");
  const lines = types.reduce<string[]>(
    ([last = "", ...others], type) =>
      last.length + type.length < 138 ? [`${last} ${type}`, ...others] : [`    ${type}`, last, ...others],
    ["gzip_types"],
  );
  const comment =
    "# What Next's own compression compresses, by mime-db: types of files and of JSON, no vendors'. Nginx' table holds no more, and no longer\n" +
    "# names. Written by `npm --prefix proxy/test test compression -- -u`.\n";
  const text = `${comment}\n${lines.reverse().join("\n")};\n`;
  await expect(text).toMatchFileSnapshot(from("proxy/snippets/compressed-types.conf"));
});

test.each([
  ...[
    "application/wasm",
    "text/csv",
    "text/markdown",
    "text/calendar",
    "text/vtt",
    "application/xhtml+xml",
    "font/ttf",
  ],
  ...["application/atom+xml", "application/ld+json", "application/problem+json", "application/vnd.api+json"],
  ...["text/html", "text/javascript", "text/x-component", "application/json; charset=utf-8", "image/svg+xml"],
])("%s is compressed", async (type) => {
  await shared.proxy.web.answer({ ...page, headers: { "content-type": type }, body: "a".repeat(2_000) });
  const { answer } = await shared.through({ headers: { "accept-encoding": "gzip" } });
  expect(answer.headers["content-encoding"]).toBe("gzip");
});
test.each(["image/png", "font/woff2", "text/event-stream"])("%s is not", async (type) => {
  await shared.proxy.web.answer({ ...page, headers: { "content-type": type }, body: "a".repeat(2_000) });
  const { answer } = await shared.through({ headers: { "accept-encoding": "gzip" } });
  expect(answer.headers["content-encoding"]).toBeUndefined();
});
test("Nginx has nothing to say about it", async () => {
  expect(await shared.proxy.log()).not.toMatch(/\[(warn|error|emerg)\]/);
});
