import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { useProxy } from "./use-proxy.ts";
import { raw, send, sendH2 } from "./wire.ts";

const require = createRequire(import.meta.url);
const { ipHeaderNames } = require("../../web/node_modules/@sentry/core/build/cjs/vendor/getIpAddress.js") as {
  ipHeaderNames: string[];
};
const ipc = readFileSync(require.resolve("../../web/node_modules/next/dist/server/lib/server-ipc/utils.js"), "utf8");
const internal = /const INTERNAL_HEADERS = \[([^\]]*)/.exec(ipc)?.[1]?.match(/[a-z-]+/g) ?? [];
const constants = Object.entries(require("../../web/node_modules/next/dist/lib/constants.js") as object);
const nextHeaders = constants.flatMap(([name, value]) =>
  /^(NEXT|PRERENDER).*(REVALIDATE|RESUME).*_HEADER$/.test(name) ? [value] : [],
);
const removed = Array.from(
  readFileSync(new URL("../snippets/removed-headers.conf", import.meta.url), "utf8").matchAll(
    /^proxy_set_header +(\S+) +"";$/gm,
  ),
  ([, name = ""]) => name.toLowerCase(),
);

// Another host's load balancer is trusted: what this client says means nothing.
const shared = useProxy({ SERVER_NAME: "app.example.com default", TRUSTED_PROXIES: "203.0.113.7" });
/** The binary header of the PROXY protocol for a client at 203.0.113.9, with TLS data (PP2_TYPE_SSL) if it came over TLS. */
function version2(overTls: boolean): Buffer {
  const address = Buffer.from([203, 0, 113, 9, 192, 0, 2, 1, 156, 64, 1, 187]);
  const version = Buffer.from("\x21\x00\x07TLSv1.3", "latin1");
  const ssl = Buffer.concat([Buffer.from([0x20, 0, 5 + version.length, 1, 0, 0, 0, 0]), version]);
  const rest = Buffer.concat([address, ...(overTls ? [ssl] : [])]);
  const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n\x21\x11", "latin1");
  return Buffer.concat([signature, Buffer.from([0, rest.length]), rest]);
}
const here = "172.16.0.0/12 192.168.0.0/16 10.0.0.0/8";
const told = ["host", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto"];
const balanced = useProxy({
  SERVER_NAME: "app.example.com",
  TRUSTED_PROXIES: here,
  HTTPS_PORT: "443",
  HTTP3: "on",
  WEBSOCKET_PATH: "/socket",
});

describe("web trusts what the proxy saw, not what a client says", () => {
  test.each([
    ["HTTP/1.1", send],
    ["HTTP/2", sendH2],
  ])("host, scheme, address and request id are the proxy's over %s", async (_, by) => {
    const forged: Record<string, string> = { "x-forwarded-proto": "http", "x-forwarded-port": "1" };
    forged["x-request-start"] = "t=1";
    forged["x-forwarded-host"] = "evil.example";
    for (const name of "x-request-id x-client-request-id content-security-policy".split(" ")) forged[name] = "not mine";
    const known = ["x-azure-clientip", "x-appengine-user-ip", "x-original-forwarded-for", "client-ip"];
    for (const name of [...ipHeaderNames, ...removed, ...known]) forged[name.toLowerCase()] = "6.6.6.6";
    const { answer, received, header } = await shared.through({ headers: forged, host: "app.example.com" }, by);
    const host = `app.example.com:${shared.proxy.port}`;
    expect(told.map(header)).toEqual([host, host, String(shared.proxy.port), "https"]);
    expect(header("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(header("x-request-start")).toMatch(/^t=\d{10}\.\d{3}$/);
    expect(header("x-request-id")).toBe(answer.headers["x-request-id"]);
    expect(received[0]?.rawHeaders.join()).not.toMatch(/6\.6\.6\.6|evil|mine/);
  });
  test.each<Record<string, string>>([
    { "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7", "x-forwarded-host": "evil.example" },
    { forwarded: "for=203.0.113.7;proto=https;host=evil.example", "front-end-https": "on" },
  ])("plain HTTP is redirected, though it says %j", async (headers) => {
    const request = { headers: { host: "app.example.com", ...headers } };
    const { answer, received } = await shared.through(request, shared.plainly);
    expect([answer.status, answer.headers.location]).toEqual([308, "https://app.example.com:8443/page"]);
    expect(received).toEqual([]);
  });
  test("headers by which Next talks to itself are dropped", async () => {
    // The first one lets a client past the middleware of earlier versions: CVE-2025-29927.
    const earlier =
      "x-middleware-subrequest x-invoke-path x-invoke-query x-invoke-status x-invoke-output x-invoke-error";
    const names = [...internal, ...nextHeaders, ...earlier.split(" "), "x-action-forwarded", "x-next-cache-tags"];
    expect(names.length).toBeGreaterThan(18);
    const { header } = await shared.through({ headers: Object.fromEntries(names.map((name) => [name, "1"])) });
    expect(names.filter(header)).toEqual([]);
  });
  test("headers of React Server Components, actions and the app pass", async () => {
    const headers = {
      rsc: "1",
      "next-router-state-tree": "x",
      "next-action": "ab",
      cookie: "a=1",
      authorization: "Bearer x",
      tracestate: "a=b",
      origin: "https://localhost",
      "accept-language": "de",
    };
    const { header } = await shared.through({ headers });
    for (const [name, value] of Object.entries(headers)) expect(header(name), name).toBe(value);
  });
});

describe("trace headers", () => {
  const [trace, span] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
  const zeros = (length: number) => "0".repeat(length);
  const sentry = { "sentry-trace": `${trace}-${span}-1` };
  const continued = { "sentry-trace": `${trace}-${span}` };
  const w3c = { traceparent: `00-${trace}-${span}-01` };
  const unsampled = { traceparent: `00-${trace}-${span}-00` };
  const member = (size: number) => `,sentry-a=${"x".repeat(size - 10)}`;
  type Headers = Record<string, string | string[]>;

  test.each<[what: string, sent: Headers, received: Headers]>([
    ["a trace id of zeros", { "sentry-trace": `${zeros(32)}-${span}-1` }, {}],
    ["a span id of zeros", { "sentry-trace": `${trace}-${zeros(16)}` }, {}],
    ["markup", { "sentry-trace": "<script>" }, {}],
    ["a traceparent with a trace id of zeros", { traceparent: `00-${zeros(32)}-${span}-01` }, {}],
    ["a traceparent with a span id of zeros", { traceparent: `00-${trace}-${zeros(16)}-01` }, {}],
    ["a traceparent of version ff", { traceparent: `ff-${trace}-${span}-01` }, {}],
    ["a traceparent, whose sampling flag is ignored", unsampled, { ...unsampled, ...continued }],
    ["a traceparent beside markup", { ...w3c, "sentry-trace": "<script>" }, { ...w3c, ...continued }],
    ["baggage that is repeated", { ...sentry, baggage: Array(4).fill(member(6_000)) }, sentry],
    ["baggage of 65 members", { ...sentry, baggage: "a=b,".repeat(64) }, sentry],
    ["baggage of 64 members", { ...sentry, baggage: "a=b,".repeat(63) }, { ...sentry, baggage: "a=b,".repeat(63) }],
    ["baggage of 8,193 bytes", { ...sentry, baggage: member(8_193) }, sentry],
    ["baggage of 8,192 bytes", { ...sentry, baggage: member(8_192) }, { ...sentry, baggage: member(8_192) }],
    ["baggage beside cookies of 8 kB", { ...sentry, baggage: member(8_000), cookie: member(8_000) }, sentry],
    ["baggage beside tracestate of 9 kB", { ...sentry, baggage: member(8_000), tracestate: member(9_000) }, sentry],
  ])("reach web if they are valid and short, and cost no page: %s", async (_, headers, expected) => {
    const { answer, header } = await shared.through({ headers });
    const received = ["sentry-trace", "traceparent", "baggage"].map((name) => [name, header(name)]);
    expect([answer.status, Object.fromEntries(received)]).toEqual([200, expected]);
  });
});

describe("whether a cache in front may store pages", () => {
  test.each<[told: RegExp, by: typeof shared, headers: Record<string, string>]>([
    [/^0$/, shared, { "x-shared-cache": "1" }],
    [/^0./, shared, { via: "1.1 varnish" }],
    [/^0./, shared, { "cdn-loop": "cloudflare", "x-shared-cache": "0" }],
    [/^1$/, balanced, { "x-shared-cache": "0" }],
  ])("web is told %s, whatever a client says", async (told, by, headers) => {
    expect((await by.through({ headers })).header("x-shared-cache")).toMatch(told);
  });
});

describe("names that are not served", () => {
  test.each(["other.example", "app.example.com.evil.example"])("%s gets 421", async (host) => {
    const { answer, received } = await shared.through({ host });
    expect(answer.status).toBe(421);
    expect(received).toEqual([]);
  });
  test.each([
    ["https://evil.example/", "localhost", /^HTTP\/1\.1 421 /, []],
    ["https://localhost/", "evil.example", /^HTTP\/1\.1 200 /, ["localhost", "localhost", "443", "https"]],
  ])("of %s and the Host %s, the absolute address counts", async (address, host, status, expected) => {
    const lines = [`GET ${address} HTTP/1.1`, `Host: ${host}`, "Connection: close", "", ""];
    const { answer, received, header } = await shared.write(lines.join("\r\n"));
    expect(answer).toMatch(status);
    expect(received.flatMap(() => told.map(header))).toEqual(expected);
  });
});

describe("behind a load balancer that ends TLS", () => {
  const { plainly } = balanced;
  const https = { host: "app.example.com", "x-forwarded-proto": "https", "x-forwarded-for": "6.6.6.6, 198.51.100.9" };

  // What the load balancer says beside that; the host and port of the browser.
  test.each<[Record<string, string | string[]>, string, string]>([
    [{}, "app.example.com", "443"],
    [{ "x-forwarded-port": "443", host: "app.example.com:8080" }, "app.example.com", "443"],
    [{ host: "app.example.com:9443" }, "app.example.com:9443", "9443"],
    [{ "x-forwarded-port": "9443" }, "app.example.com:9443", "9443"],
    [{ "x-forwarded-port": "80" }, "app.example.com", "443"],
    [{ "x-forwarded-host": "APP.example.com", host: "10.0.0.7:8080" }, "app.example.com", "443"],
    [{ "x-forwarded-host": "app.example.com:9443", "x-forwarded-port": "443" }, "app.example.com:9443", "9443"],
    [{ "x-forwarded-host": "app.example.com, app.example.com" }, "app.example.com", "443"],
    [{ "x-forwarded-host": "[::1]:9443", host: "upstream" }, "[::1]:9443", "9443"],
    [{ "x-forwarded-proto": ["https", "HTTPS"] }, "app.example.com", "443"],
    [{ "x-forwarded-proto": "wss" }, "app.example.com", "443"],
  ])("plain HTTP is a page over TLS: %j", async (reported, host, port) => {
    for (const by of [plainly, send]) {
      const { answer, header } = await balanced.through({ headers: { ...https, ...reported } }, by);
      const headers = { "strict-transport-security": "max-age=31536000", "x-accel-buffering": "no" };
      expect(answer).toMatchObject({ status: 200, headers });
      expect(answer.headers["alt-svc"]).toBeUndefined();
      expect([...told, "x-forwarded-for"].map(header)).toEqual([host, host, port, "https", "198.51.100.9"]);
    }
  });
  test.each(["/_next/static/a.js", "/.culvert/settings", "/socket/x"])(
    "web knows whose request it is, for a turn of this client's: %s",
    async (path) => {
      const { header } = await balanced.through({ path, headers: https });
      expect(header("x-forwarded-for")).toBe("198.51.100.9");
    },
  );
  const port = (number: string) => ({ "x-forwarded-host": `app.example.com:${number}` });
  test.each<[status: number, headers: Record<string, string>, path?: string]>([
    [400, { "x-forwarded-proto": "https, http" }],
    [400, { "x-forwarded-proto": "https|http" }],
    [400, { "x-forwarded-proto": "ftp" }],
    [400, { "x-forwarded-port": "443, 80" }],
    [400, { "x-forwarded-port": "443|80" }],
    [400, { "x-forwarded-port": "70000" }],
    ...["0", "65536"].map((value): [number, Record<string, string>] => [400, port(value)]),
    [421, { "x-forwarded-host": "evil.example, app.example.com" }],
    [421, { "x-forwarded-host": "evil.example" }],
    [421, { "x-forwarded-host": "app.example.com/evil" }],
    [421, { "x-forwarded-host": "app.example.com|:9443" }],
    [421, { host: "evil.example" }],
    [421, { host: "evil.example" }, "/|/.culvert/health"],
    [421, { host: "evil.example" }, "/.culvert/settings"],
    [308, { "x-forwarded-proto": "http" }],
    [308, { "x-forwarded-proto": "http" }, "/|443|app.example.com|/.culvert/"],
  ])("what ends with %i reaches nobody: %j %s", async (status, reported, path = "/page") => {
    for (const by of [plainly, send]) {
      const { answer, received } = await balanced.through({ path, headers: { ...https, ...reported } }, by);
      expect([answer.status, received]).toEqual([status, []]);
      if (status === 308) expect(answer.headers.location).toBe(`https://app.example.com${path}`);
    }
  });
  test("without its headers, a port is what it is", async () => {
    const headers = { host: "app.example.com" };
    expect((await balanced.through({ headers }, plainly)).answer.status).toBe(308);
    const { answer } = await balanced.through({ headers });
    expect([answer.status, answer.headers["strict-transport-security"]]).toEqual([200, undefined]);
  });
  test("its health check is answered with any Host and none, on both ports", async () => {
    const path = "/.culvert/health";
    for (const by of [plainly, send])
      for (const host of ["10.0.0.7:8080", "evil.example", "app.example.com"]) {
        const { answer, received } = await balanced.through({ path, headers: { host } }, by);
        expect([answer.status, answer.body, received]).toEqual([200, "ok\n", []]);
      }
    expect(await raw(balanced.proxy.port, `GET ${path} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    for (const other of ["", "error.html", "health/x", "page", "healthz"]) {
      const request = { path: `/.culvert/${other}`, headers: { host: "evil.example" } };
      expect((await balanced.through(request, plainly)).answer.status).toBe(404);
    }
  });
});

describe("a request's id", () => {
  const wellFormed = ["a".repeat(128), "node_1.42-x"];
  const others = ["short", "a".repeat(129), "<script>alert(1)</script>"];
  test.each([...wellFormed, ...others])("of a trusted load balancer is kept if it is well-formed: %s", async (id) => {
    const { answer, header } = await balanced.through({ headers: { "x-request-id": id } });
    expect(header("x-request-id")).toBe(answer.headers["x-request-id"]);
    if (wellFormed.includes(id)) expect(header("x-request-id")).toBe(id);
    else expect(header("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
  });
  test("of any other client is replaced, and kept in X-Client-Request-Id if it is well-formed", async () => {
    for (const id of ["0af76519-16cd-43dd-8448-eb211c80319c", "<script>alert(1)</script>"]) {
      const headers = { "x-request-id": id, "x-client-request-id": "anything-else" };
      const { answer, header } = await shared.through({ headers });
      const newId = answer.headers["x-request-id"];
      expect(newId).toMatch(/^[0-9a-f]{32}$/);
      expect(header("x-client-request-id")).toBe(id.startsWith("<") ? newId : id);
    }
  });
});

describe("behind a load balancer that speaks the PROXY protocol", () => {
  const shared = useProxy({ PROXY_PROTOCOL: "on", TRUSTED_PROXIES: here, SHARED_CACHE: "off" });
  const request = (...lines: string[]) =>
    ["GET /page HTTP/1.1", "Host: localhost", "Connection: close", ...lines, "", ""].join("\r\n");
  // https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt
  test.each([
    ["PROXY TCP4 203.0.113.9 192.0.2.1 40000 443\r\n", "203.0.113.9"],
    ["PROXY TCP6 2001:db8::9 2001:db8::1 40000 443\r\n", "2001:db8::9"],
    [version2(false), "203.0.113.9"],
  ])("the client IP is the one in that line, and headers are the client's own", async (line, address) => {
    const forged = ["X-Forwarded-For: 6.6.6.6", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: http"];
    const bytes = request(...forged, "X-Forwarded-Port: 1", "X-Request-Id: not-its-own");
    const { answer, header } = await shared.write(bytes, undefined, line);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect([...told, "x-forwarded-for"].map(header)).toEqual(["localhost", "localhost", "443", "https", address]);
    expect(header("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
  });
  test("with SHARED_CACHE=off, web is told of no cache", async () => {
    const { header } = await shared.write(request("Via: 1.1 varnish"), undefined, version2(false));
    expect(header("x-shared-cache")).toBe("0");
  });
  test("version 2 says whether TLS has ended: 8080 then serves pages, and else redirects", async () => {
    const at = new URL(shared.proxy.at(8080));
    const bytes = (overTls: boolean) =>
      Buffer.concat([version2(overTls), Buffer.from(request("X-Forwarded-Proto: https"))]);
    const ask = (overTls: boolean) => {
      const socket = connect(Number(at.port), at.hostname);
      socket.write(bytes(overTls));
      return text(socket);
    };
    const mark = await shared.proxy.web.count();
    expect(await ask(false)).toMatch(/^HTTP\/1\.1 308 /);
    expect(await ask(true)).toMatch(/^HTTP\/1\.1 200 /);
    const received = await shared.proxy.web.all(mark);
    expect(received.map((sent) => [headerOf(sent, "x-forwarded-proto"), headerOf(sent, "x-forwarded-for")])).toEqual([
      ["https", "203.0.113.9"],
    ]);
    // From an address that is not trusted: the container itself.
    const script = `exec 3<>/dev/tcp/127.0.0.1/8080; echo ${bytes(true).toString("base64")} | base64 -d >&3; cat <&3`;
    expect(await shared.proxy.on("proxy", "exec", "bash", "-c", script)).toMatch(/^HTTP\/1\.1 308 /);
  });
  test("a connection without the line gets nothing", () => expect(shared.through()).rejects.toThrow());
});
