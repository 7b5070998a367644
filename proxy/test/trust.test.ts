import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { type SharedProxy, useProxy } from "./use-proxy.ts";
import { raw, send, sendH2 } from "./wire.ts";

const require = createRequire(import.meta.url);
/** The headers from which the SDK takes a client's IP. */
const { ipHeaderNames: believed } = require("../../web/node_modules/@sentry/core/build/cjs/vendor/getIpAddress.js") as {
  ipHeaderNames: string[];
};

const shared = useProxy({ SERVER_NAME: "app.example.com" });

describe("web trusts what the proxy saw, not what a client says", () => {
  test.each([
    ["HTTP/1.1", send],
    ["HTTP/2", sendH2],
  ])("host, scheme, address and request id are the proxy's over %s", async (_, by) => {
    const forged: Record<string, string> = { "x-forwarded-proto": "http", "x-forwarded-port": "1" };
    forged["x-request-start"] = "t=1";
    for (const name of "server scheme prefix host".split(" ")) forged[`x-forwarded-${name}`] = "evil.example";
    for (const name of "x-original-url x-rewrite-url x-original-host".split(" ")) forged[name] = "/evil";
    for (const name of "x-forwarded-for x-real-ip forwarded".split(" ")) forged[name] = "6.6.6.6";
    for (const name of "x-request-id x-client-request-id content-security-policy".split(" ")) forged[name] = "not mine";
    for (const name of believed) forged[name.toLowerCase()] = "6.6.6.6";
    const { answer, received } = await shared.through({ headers: forged, host: "app.example.com" }, by);
    const [request] = received;
    if (!request) throw new Error("web received nothing");
    const host = `app.example.com:${shared.proxy.port}`;
    expect(headerOf(request, "host")).toBe(host);
    expect(headerOf(request, "x-forwarded-host")).toBe(host);
    expect(headerOf(request, "x-forwarded-proto")).toBe("https");
    expect(headerOf(request, "x-forwarded-port")).toBe(String(shared.proxy.port));
    expect(headerOf(request, "x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(headerOf(request, "x-request-start")).toMatch(/^t=\d{10}\.\d{3}$/);
    expect(headerOf(request, "x-request-id")).toBe(answer.headers["x-request-id"]);
    expect(request.rawHeaders.join()).not.toMatch(/6\.6\.6\.6|evil|mine/);
  });
  test("headers by which Next talks to itself are dropped", async () => {
    const names = [
      ...["subrequest", "rewrite", "redirect", "set-cookie", "skip"].map((one) => `x-middleware-${one}`),
      ...["x-middleware-override-headers", "x-middleware-next"],
      ...["path", "query", "output", "status", "error"].map((one) => `x-invoke-${one}`),
      ...["x-now-route-matches", "x-matched-path", "next-resume", "x-next-resume-state-length", "x-nextjs-data"],
    ];
    const { received } = await shared.through({ headers: Object.fromEntries(names.map((name) => [name, "1"])) });
    expect(names.filter((name) => headerOf(received[0] as RecordedRequest, name))).toEqual([]);
  });
  test("headers of React Server Components, actions and the app pass", async () => {
    const headers = {
      ...{ rsc: "1", "next-router-state-tree": "x", "next-router-prefetch": "1", "next-url": "/" },
      ...{ "next-router-segment-prefetch": "/x", "next-action": "ab", cookie: "a=1", authorization: "Bearer x" },
      "sentry-trace": "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      ...{ baggage: "a=b", origin: "https://localhost", "accept-language": "de" },
    };
    const { received } = await shared.through({ headers });
    for (const [name, value] of Object.entries(headers))
      expect(received[0] && headerOf(received[0], name), name).toBe(value);
  });
});

describe("an invalid trace header never reaches web", () => {
  test.each([
    ["sentry-trace", `${"0".repeat(32)}-b7ad6b7169203331-1`],
    ["sentry-trace", `0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}`],
    ["sentry-trace", "0af7651916cd43dd8448eb211c80319c"],
    ["sentry-trace", "<script>"],
    ["traceparent", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`],
    ["traceparent", `00-4bf92f3577b34da6a3ce929d0e0e4736-${"0".repeat(16)}-01`],
    ["traceparent", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
  ])("%s: %s", async (name, value) => {
    const [request] = (await shared.through({ headers: { [name]: value } })).received;
    for (const known of ["sentry-trace", "traceparent"])
      expect(headerOf(request as RecordedRequest, known)).toBeUndefined();
  });
});

describe("a caller that only speaks W3C's trace context", () => {
  const [trace, span] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
  test.each(["01", "00"])("is continued by its ids; its sampling flag %s is ignored", async (flag) => {
    const traceparent = `00-${trace}-${span}-${flag}`;
    const { received } = await shared.through({ headers: { traceparent } });
    expect(received[0] && headerOf(received[0], "sentry-trace")).toBe(`${trace}-${span}`);
    expect(received[0] && headerOf(received[0], "traceparent")).toBe(traceparent);
  });
  test("is continued if its sentry-trace is invalid", async () => {
    const headers = { traceparent: `00-${trace}-${span}-01`, "sentry-trace": "<script>" };
    const { received } = await shared.through({ headers });
    expect(received[0] && headerOf(received[0], "sentry-trace")).toBe(`${trace}-${span}`);
  });
});

describe("names that are not served", () => {
  test.each(["other.example", "app.example.com.evil.example", "xapp.example.com"])("%s gets 421", async (host) => {
    const { answer, received } = await shared.through({ host });
    expect(answer.status).toBe(421);
    expect(received).toEqual([]);
  });
  test("an absolute address of another host gets 421, whatever Host says", async () => {
    const answer = await raw(
      shared.proxy.port,
      "GET https://evil.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 421 /);
  });
  test("an absolute address with a served name wins over a wrong Host", async () => {
    const mark = await shared.proxy.web.count();
    await raw(shared.proxy.port, "GET https://localhost/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    const [request] = await shared.proxy.web.all(mark);
    expect(request && headerOf(request, "host")).toBe("localhost");
    expect(request && headerOf(request, "x-forwarded-port")).toBe("443");
  });
});

describe("a request's id", () => {
  const balanced = useProxy({ TRUSTED_PROXIES: "0.0.0.0/0" });
  const ask = async (proxy: SharedProxy, id: string) => {
    const { answer, received } = await proxy.through({ headers: { "x-request-id": id } });
    expect(received[0] && headerOf(received[0], "x-request-id")).toBe(answer.headers["x-request-id"]);
    return answer.headers["x-request-id"];
  };
  test.each(["0af76519-16cd-43dd-8448-eb211c80319c", "a".repeat(128), "node_1.42-x"])(
    "%s of a trusted load balancer is kept",
    async (id) => expect(await ask(balanced, id)).toBe(id),
  );
  test.each(["short", "a".repeat(129), "with space", 'quote"quote', "<script>alert(1)</script>", "line;break"])(
    "%s of a trusted load balancer is replaced",
    async (id) => expect(await ask(balanced, id)).toMatch(/^[0-9a-f]{32}$/),
  );
  test("of any other client is replaced, and kept in X-Client-Request-Id if it is well-formed", async () => {
    for (const id of ["0af76519-16cd-43dd-8448-eb211c80319c", "<script>alert(1)</script>"]) {
      const headers = { "x-request-id": id, "x-client-request-id": "anything-else" };
      const { answer, received } = await shared.through({ headers });
      const own = answer.headers["x-request-id"];
      expect(own).toMatch(/^[0-9a-f]{32}$/);
      expect(received[0] && headerOf(received[0], "x-client-request-id")).toBe(id.startsWith("<") ? own : id);
    }
  });
});

describe("behind a load balancer that speaks the PROXY protocol", () => {
  // Docker's bridge stands for it.
  const balancers = "172.16.0.0/12 192.168.0.0/16 10.0.0.0/8";
  const shared = useProxy({ PROXY_PROTOCOL: "on", TRUSTED_PROXIES: balancers });
  // https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt
  test.each([
    ["PROXY TCP4 203.0.113.9 192.0.2.1 40000 443\r\n", "203.0.113.9"],
    ["PROXY TCP6 2001:db8::9 2001:db8::1 40000 443\r\n", "2001:db8::9"],
  ])("the client IP is the one in that line, whatever the client's headers say", async (line, address) => {
    const mark = await shared.proxy.web.count();
    const request = "GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n";
    expect(await raw(shared.proxy.port, request, undefined, line)).toMatch(/^HTTP\/1\.1 200 /);
    const [received] = await shared.proxy.web.all(mark);
    expect(received && headerOf(received, "x-forwarded-for")).toBe(address);
  });
  test("a connection without the line gets nothing", () => expect(shared.through()).rejects.toThrow());
});
