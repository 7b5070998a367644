import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

// Docker's bridge stands for the load balancer.
const shared = useProxy({ PROXY_PROTOCOL: "on", TRUSTED_PROXIES: "172.16.0.0/12 192.168.0.0/16 10.0.0.0/8" });

/** A page, asked for behind this PROXY line: https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt */
function behind(line: string, headers = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(shared.proxy.port, "127.0.0.1", () => {
      socket.write(line);
      let answer = "";
      connectTls({ socket, servername: "localhost", rejectUnauthorized: false })
        .on("secureConnect", function (this: NodeJS.WritableStream) {
          this.write(`GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`);
        })
        .on("data", (chunk: Buffer) => {
          answer += chunk.toString("latin1");
        })
        .on("error", reject)
        .on("close", () => resolve(answer));
    });
    socket.on("error", reject);
  });
}

describe("behind a load balancer that speaks the PROXY protocol", () => {
  test.each([
    ["PROXY TCP4 203.0.113.9 192.0.2.1 40000 443\r\n", "203.0.113.9"],
    ["PROXY TCP6 2001:db8::9 2001:db8::1 40000 443\r\n", "2001:db8::9"],
  ])("the client IP is the one in that line, whatever the client's headers say", async (line, address) => {
    const mark = await shared.proxy.web.count();
    expect(await behind(line, "X-Forwarded-For: 6.6.6.6\r\n")).toMatch(/^HTTP\/1\.1 200 /);
    const [request] = await shared.proxy.web.all(mark);
    expect(request && headerOf(request, "x-forwarded-for")).toBe(address);
  });
  test("a connection without the line gets nothing", async () => {
    const mark = await shared.proxy.web.count();
    await expect(send(shared.proxy.port, { path: "/page" })).rejects.toThrow();
    expect(await shared.proxy.web.count()).toBe(mark);
  });
});
