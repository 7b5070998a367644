import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { useProxy } from "./use-proxy.ts";
import { raw } from "./wire.ts";

// Docker's bridge stands for the load balancer.
const shared = useProxy({ PROXY_PROTOCOL: "on", TRUSTED_PROXIES: "172.16.0.0/12 192.168.0.0/16 10.0.0.0/8" });

describe("behind a load balancer that speaks the PROXY protocol", () => {
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
