import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { useProxy } from "./use-proxy.ts";
import { raw } from "./wire.ts";

const shared = useProxy({ WEBSOCKET_PATH: "/socket" });

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
async function openSocket(bytes: string, until = /\r\n\r\n/) {
  const mark = await shared.proxy.web.count();
  const answer = await raw(shared.proxy.port, bytes, until);
  return { answer, received: await shared.proxy.web.all(mark) };
}

describe("a WebSocket, where the setting allows one", () => {
  test.each(["/socket", "/socket/room?id=1"])("%s: the handshake reaches web, and bytes go both ways", async (path) => {
    const own = `Origin: https://localhost:${shared.proxy.port}`;
    const { answer, received } = await openSocket(`${handshake(path, [own])}there and back`, /there and back/);
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(received).toMatchObject([{ url: path }]);
    const sent = {
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "x-forwarded-proto": "https",
    };
    for (const [name, value] of Object.entries(sent)) expect(received[0] && headerOf(received[0], name)).toBe(value);
  });
  test("a program, which sends no Origin, may", async () => {
    expect((await openSocket(handshake("/socket"))).answer).toMatch(/^HTTP\/1\.1 101 /);
  });
  test.each(["https://evil.example", "null", "http://localhost"])("a page of %s may not", async (origin) => {
    const { answer, received } = await openSocket(handshake("/socket", [`Origin: ${origin}`]));
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(received).toEqual([]);
  });
  test("a request that asks for none passes as pages do", async () => {
    const { answer, received } = await shared.through({ path: "/socket/?transport=polling" });
    expect(answer.status).toBe(200);
    expect(received[0] && headerOf(received[0], "upgrade")).toBeUndefined();
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
    const { answer, received } = await openSocket(bytes);
    expect([answer.slice(0, 13), received]).toEqual(["HTTP/1.1 400 ", []]);
  });
  test("the log says why a WebSocket's handshake was refused", async () => {
    await openSocket(handshake("/elsewhere"));
    expect((await shared.proxy.logged('"path":"/elsewhere"')).reason).toBe("upgrade_refused");
    expect((await shared.proxy.logged('"path":"/socket/"')).reason).toBe("");
  });
});
