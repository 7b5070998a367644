import { beforeEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { page, useProxy } from "./use-proxy.ts";
import { raw } from "./wire.ts";

const shared = useProxy({ WEBSOCKET_PATH: "/socket" });

beforeEach(() => shared.proxy.web.answer(page));

const handshake = (path: string, headers: string[] = []) =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: localhost:${shared.proxy.port}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
    "",
    "",
  ].join("\r\n");

/** What web received of a handshake, and the answer up to what `until` finds in it. */
async function openSocket(bytes: string, until: RegExp) {
  const mark = await shared.proxy.web.count();
  const answer = await raw(shared.proxy.port, bytes, until);
  return { answer, received: await shared.proxy.web.all(mark) };
}

describe("a WebSocket, where the setting allows one", () => {
  test.each(["/socket", "/socket/room?id=1"])("%s: the handshake reaches web, and bytes go both ways", async (path) => {
    const own = `Origin: https://localhost:${shared.proxy.port}`;
    const { answer, received } = await openSocket(`${handshake(path, [own])}there and back`, /there and back/);
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(received[0]?.url).toBe(path);
    expect(received[0] && headerOf(received[0], "upgrade")).toBe("websocket");
    expect(received[0] && headerOf(received[0], "sec-websocket-key")).toBe("dGhlIHNhbXBsZSBub25jZQ==");
    expect(received[0] && headerOf(received[0], "x-forwarded-proto")).toBe("https");
  });
  test("a program, which sends no Origin, may", async () => {
    expect((await openSocket(handshake("/socket"), /\r\n\r\n/)).answer).toMatch(/^HTTP\/1\.1 101 /);
  });
  test.each(["https://evil.example", "null", "http://localhost"])("a page of %s may not", async (origin) => {
    const { answer, received } = await openSocket(handshake("/socket", [`Origin: ${origin}`]), /\r\n\r\n/);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(received).toEqual([]);
  });
  test("a request that asks for none passes as pages do", async () => {
    const { answer, received } = await shared.through({ path: "/socket/?transport=polling" });
    expect(answer.status).toBe(200);
    expect(received[0] && headerOf(received[0], "upgrade")).toBeUndefined();
  });
  test("a page there gets the strict policy with its nonce, as any other", async () => {
    await shared.proxy.web.answer({ ...page, headers: { ...page.headers, "x-security-headers": "strict" } });
    const { answer, received } = await shared.through({ path: "/socket", headers: { accept: "text/html" } });
    expect(answer.headers["content-security-policy"]).toContain("nonce-");
    expect(received[0] && headerOf(received[0], "content-security-policy")).toBe(
      answer.headers["content-security-policy"],
    );
  });
});

describe("any other Upgrade", () => {
  test.each([
    ["another path", "/", "websocket"],
    ["a path that only begins alike", "/sockets", "websocket"],
    ["another protocol", "/socket", "h2c"],
    ["two protocols", "/socket", "websocket, h2c"],
    ["a protocol that is false for Nginx", "/", "0"],
    ["an image", "/_next/image?url=%2Fa.png&w=64&q=75", "websocket"],
    ["a file", "/_next/static/chunks/a.js", "h2c"],
  ])("%s: no tunnel, even if web answered with 101", async (_, path, protocol) => {
    await shared.proxy.web.answer({ status: 101, headers: { upgrade: protocol, connection: "upgrade" }, body: "" });
    const bytes = handshake(path)
      .replace("Upgrade: websocket", `Upgrade: ${protocol}`)
      .replace("Connection: Upgrade", "Connection: Upgrade, close");
    const mark = await shared.proxy.web.count();
    expect(await raw(shared.proxy.port, bytes, /\r\n\r\n/)).not.toMatch(/^HTTP\/1\.1 101 /);
    for (const request of await shared.proxy.web.all(mark)) expect(headerOf(request, "upgrade")).toBeUndefined();
  });
  test("the log says why a WebSocket's handshake was refused", async () => {
    await raw(shared.proxy.port, handshake("/elsewhere"), /\r\n\r\n/);
    const lines = async () => (await shared.proxy.on("proxy", "logs")).split("\n");
    const reason = async () => (await lines()).find((line) => line.includes('"path":"/elsewhere"'));
    await expect.poll(reason).toContain('"reason":"upgrade_refused"');
    expect((await lines()).find((line) => line.includes('"path":"/socket/"'))).toContain('"reason":""');
  });
});
