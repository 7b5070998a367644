import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { getTunnelPath } from "@sentry/core";
import { describe, expect, test } from "vitest";
import { useProxy } from "./use-proxy.ts";
import { sendH2 } from "./wire.ts";

const shared = useProxy();

/** A request with these header lines. */
const withLines = (...lines: string[]) => ["GET / HTTP/1.1", "Host: localhost", ...lines, "", ""].join("\r\n");

describe("requests that two servers could read differently never reach web", () => {
  const body = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
  test.each([
    ["Content-Length with Transfer-Encoding", `${withLines("Content-Length: 4", "Transfer-Encoding: chunked")}${body}`],
    ["two Content-Lengths", `${withLines("Content-Length: 4", "Content-Length: 5")}abcde`],
    ["two Hosts", withLines("Host: evil.example")],
    ["no Host", "GET / HTTP/1.1\r\n\r\n"],
    ["a folded header", withLines("X-A: 1", " folded")],
    ["a space before the colon", withLines("Transfer-Encoding : chunked")],
    ["an unknown Transfer-Encoding", `${withLines("Transfer-Encoding: xchunked")}0\r\n\r\n`],
    ["TRACE", withLines("Connection: close").replace("GET", "TRACE")],
    ["CONNECT", withLines("Connection: close").replace("GET /", "CONNECT localhost:443")],
    ["a header of 40 kB", withLines(`X-A: ${"a".repeat(40_000)}`)],
    ["an address of 40 kB", withLines().replace("/", `/${"a".repeat(40_000)}`)],
    ["a zero byte in a header", withLines("X-A: a\0b")],
  ])("%s", async (_, bytes) => {
    const { answer, received } = await shared.write(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 (4\d\d|501) /);
    expect(received).toEqual([]);
  });
});

// RFC 9112, 2.2: a server may take a lone line feed for the end of a line, and Nginx does; no directive forbids it. What two
// servers could read differently is gone then: web gets one request, written anew.
describe("line ends without a carriage return", () => {
  const chunked = withLines("Connection: close", "Transfer-Encoding: chunked").replace("GET", "POST");
  test.each([
    ["everywhere", "GET / HTTP/1.1\nHost: localhost\nConnection: close\n\n"],
    ["within a header", withLines("X-A: b\nX-C: d", "Connection: close")],
    ["in chunks", `${chunked}3\nabc\n0\n\n`],
  ])("%s: rejected, or a single ordinary request", async (_, bytes) => {
    const { answer, received } = await shared.write(bytes);
    expect(answer).toMatch(received.length === 0 ? /^HTTP\/1\.1 400 / : /^HTTP\/1\.1 200 /);
    expect(received.length).toBeLessThanOrEqual(1);
    expect(received.flatMap((request) => request.rawHeaders).join()).not.toMatch(/\n/);
    if (received[0]?.method === "POST") expect(Buffer.from(received[0].body, "base64").toString()).toBe("abc");
  });
});

test.each([
  ["less", "3", "abcdef"],
  ["more", "9", "abc"],
])("an HTTP/2 body that is %s than its length never reaches web", async (_, length, body) => {
  const { port, web } = shared.proxy;
  const before = await web.count();
  await sendH2(port, { method: "POST", path: "/", headers: { "content-length": length }, body }).catch(() => undefined);
  expect(await web.count()).toBe(before);
});

const sdkPath = getTunnelPath("http://key@ingest:9000/prefix/7");
test.each(["/monitoring%0a", "/monitoring/csp%0a", `${sdkPath}%0a`, "/monitoring?%0a", "/monitoring?o=1&p=7%0a"])(
  "a line feed at the end is part of what is asked for, and the ingest gets nothing: %s",
  async (path) => {
    for (const type of ["text/plain", "application/csp-report"])
      expect((await shared.post({ path, headers: { "content-type": type } })).received).toEqual([]);
  },
);

test("no pattern ends at a line feed: `$` would match before one", () => {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  const lines = ["templates", "snippets"]
    .flatMap((name) => readdirSync(join(folder, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .flatMap(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8").split("\n"));
  expect(lines.filter((line) => /^[^#]*~.*\$(?=["|)]|\s)/.test(line))).toEqual([]);
});
