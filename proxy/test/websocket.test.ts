import { describe, expect, test } from "vitest";
import { useProxy } from "./use-proxy.ts";

const shared = useProxy({
  WEBSOCKET_PATH: "/socket",
  SERVER_NAME: "www.example.com app.example.com",
  TUNNEL_ALLOWED_ORIGINS: "https://tunnel.example, null",
  WEBSOCKET_ALLOWED_ORIGINS: "https://Partner.example:443 capacitor://localhost",
});

const open = (path: string, headers: string[] = [], message = "", until = /\r\n\r\n/, host = "localhost") => {
  const first = [`GET ${path} HTTP/1.1`, `Host: ${host}:${shared.proxy.port}`, "Connection: Upgrade"];
  const upgrade = ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
  return shared.write([...first, ...upgrade, ...headers, "", message].join("\r\n"), until);
};

describe("a WebSocket, where the setting allows one", () => {
  test.each(["/socket", "/socket/room?id=1"])("%s: the handshake reaches web, and bytes go both ways", async (path) => {
    const origin = `Origin: https://localhost:${shared.proxy.port}`;
    const { answer, received, header } = await open(path, [origin], "there and back", /there and back/);
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(received).toMatchObject([{ url: path }]);
    const names = ["upgrade", "sec-websocket-key", "x-forwarded-proto"];
    expect(names.map(header)).toEqual(["websocket", "dGhlIHNhbXBsZSBub25jZQ==", "https"]);
  });
  test("a program, which sends no Origin, may", async () => {
    expect((await open("/socket")).answer).toMatch(/^HTTP\/1\.1 101 /);
  });
  const onApp = (origin: string) =>
    open("/socket", [`Origin: ${origin}`.replace("PORT", `${shared.proxy.port}`)], "", undefined, "app.example.com");
  const allowed = ["https://www.example.com:PORT", "https://partner.example", "capacitor://localhost"];
  test.each(allowed)("a page of %s may: its name is served, or its origin is allowed", async (origin) =>
    expect((await onApp(origin)).answer).toMatch(/^HTTP\/1\.1 101 /),
  );
  test.each([
    "null",
    "https://tunnel.example",
    "https://evil.example:PORT",
    "https://localhost:PORT",
    "http://www.example.com:PORT",
    "https://www.example.com",
    "https://wwwxexample.com:PORT",
    "https://partner.example:444",
  ])("a page of %s may not", async (origin) => {
    const { answer, received } = await onApp(origin);
    expect(answer).toMatch(/^HTTP\/1\.1 403 .*WEBSOCKET_ALLOWED_ORIGINS/s);
    expect(received).toEqual([]);
  });
  test("a request that asks for none passes as pages do", async () => {
    const { answer, header } = await shared.through({ path: "/socket/?transport=polling" });
    expect([answer.status, header("upgrade")]).toEqual([200, undefined]);
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
    const lines = [`GET ${path} HTTP/1.1`, "Host: localhost", `Upgrade: ${protocol}`, "Connection: Upgrade, close"];
    const { answer, received } = await shared.write([...lines, "", ""].join("\r\n"));
    expect([answer.slice(0, 13), received]).toEqual(["HTTP/1.1 400 ", []]);
  });
  test("the log says why a WebSocket's handshake was refused", async () => {
    await open("/elsewhere");
    await open("/socket/null", ["Origin: null"]);
    for (const [path, reason] of Object.entries({
      "/elsewhere": "upgrade_refused",
      "/socket/null": "origin",
      "/socket/": "",
    }))
      expect((await shared.proxy.logged(`"path":"${path}"`)).reason).toBe(reason);
  });
});
