import { getTunnelPath } from "@sentry/core";
import { describe, expect, test } from "vitest";
import { run } from "../../deploy/test/support/docker.ts";
import { useProxy } from "./use-proxy.ts";
import { sendH2 } from "./wire.ts";

const shared = useProxy();

const withLines = (...lines: string[]) => ["GET / HTTP/1.1", "Host: localhost", ...lines, "", ""].join("\r\n");

describe("requests that two servers could read differently never reach web", () => {
  const body = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
  test.each([
    ["Content-Length with Transfer-Encoding", `${withLines("Content-Length: 4", "Transfer-Encoding: chunked")}${body}`],
    ["two Content-Lengths", `${withLines("Content-Length: 4", "Content-Length: 5")}abcde`],
    ["two Hosts", withLines("Host: evil.example")],
    ["a space before the colon", withLines("Transfer-Encoding : chunked")],
    ["chunks that end with line feeds", `${withLines("Transfer-Encoding: chunked")}3\nabc\n0\n\n`],
    ["an unknown Transfer-Encoding", `${withLines("Transfer-Encoding: xchunked")}0\r\n\r\n`],
    ["a zero byte in a header", withLines("X-A: a\0b")],
  ])("%s", async (_, bytes) => {
    const { answer, received } = await shared.write(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 (4\d\d|501) /);
    expect(received).toEqual([]);
  });
});

// RFC 9112, 2.2: a server may take a lone line feed for the end of a line, and Nginx does; no directive forbids it.
test("line ends without a carriage return: web gets one request, written anew", async () => {
  const { answer, received } = await shared.write(withLines("X-A: b\nX-C: d", "Connection: close"));
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(received).toHaveLength(1);
  expect(received.flatMap((request) => request.rawHeaders).join()).not.toMatch(/\n/);
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

test("no pattern ends at a line feed: `$` would match before one", async () => {
  const pattern = '^[^#]*~.*\\$(["|)]|[[:space:]])';
  const { code, output } = await run("grep", ["-rE", pattern, "proxy/templates", "proxy/snippets"]);
  expect(code, output).toBe(1);
});
