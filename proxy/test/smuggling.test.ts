import { connect as connectH2 } from "node:http2";
import { describe, expect, test } from "vitest";
import { useEdge } from "./use-edge.ts";
import { raw } from "./wire.ts";

const shared = useEdge();

describe("requests that two servers could read differently never reach web", () => {
  const body = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
  test.each([
    [
      "Content-Length with Transfer-Encoding",
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
    ],
    [
      "two Content-Lengths",
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`,
    ],
    ["two Hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"],
    ["no Host", "GET / HTTP/1.1\r\n\r\n"],
    ["no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n"],
    ["a folded header", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: 1\r\n folded\r\n\r\n"],
    ["a space before the colon", "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding : chunked\r\n\r\n"],
    [
      "an unknown Transfer-Encoding",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    ],
    [
      "a chunk size that is none",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
    ],
    ["TRACE", "TRACE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"],
    ["CONNECT", "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"],
    ["a header of 40 kB", `GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ${"a".repeat(40_000)}\r\n\r\n`],
    ["an address of 40 kB", `GET /${"a".repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ["a zero byte in a header", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: a\0b\r\n\r\n"],
  ])("%s", async (_, bytes) => {
    const mark = await shared.edge.web.count();
    expect(await raw(shared.edge.port, bytes)).toMatch(/^HTTP\/1\.1 (4\d\d|501) /);
    expect(await shared.edge.web.count()).toBe(mark);
  });
});

describe("tricks of a single connection", () => {
  test("a client that never ends its header is cut off, and web hears nothing", async () => {
    const before = await shared.edge.web.count();
    await raw(shared.edge.port, "GET /slow HTTP/1.1\r\nHost: localhost\r\nX-A: ");
    expect(await shared.edge.web.count()).toBe(before);
  });
  test("a client that never ends its body is cut off, and web hears nothing", async () => {
    const before = await shared.edge.web.count();
    await raw(shared.edge.port, "POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc");
    expect(await shared.edge.web.count()).toBe(before);
  });
  test.each([
    ["less", "3", "abcdef"],
    ["more", "9", "abc"],
  ])("an HTTP/2 body that is %s than its length never reaches web", async (_, length, body) => {
    const before = await shared.edge.web.count();
    const session = connectH2(`https://localhost:${shared.edge.port}`, { rejectUnauthorized: false });
    await new Promise<void>((resolve) => {
      const stream = session.request({ ":method": "POST", ":path": "/", "content-length": length });
      stream.on("error", () => resolve());
      stream.on("close", resolve).resume();
      stream.end(body);
    });
    session.destroy();
    expect(await shared.edge.web.count()).toBe(before);
  });
});
