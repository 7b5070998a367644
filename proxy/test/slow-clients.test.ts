import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { page, useProxy } from "./use-proxy.ts";
import { raw, send } from "./wire.ts";

const snippet = readFileSync(new URL("../snippets/timeouts.conf", import.meta.url), "utf8");

test.each(["client_header_timeout", "client_body_timeout", "send_timeout"])(
  "a client may pause for a minute: %s",
  (directive) => {
    const [, count, unit] = new RegExp(`^${directive} (\\d+)([sm]);`, "m").exec(snippet) ?? [];
    expect(Number(count) * (unit === "m" ? 60 : 1)).toBeGreaterThanOrEqual(60);
  },
);

describe("a client that pauses longer", () => {
  // A test cannot wait that long.
  const file = join(mkdtempSync(join(tmpdir(), "timeouts-")), "timeouts.conf");
  writeFileSync(file, snippet.replace(/^(client_\w+_timeout) .*;/gm, "$1 1s;"));
  const shared = useProxy(
    { TRUSTED_PROXIES: "0.0.0.0/0" },
    { mounts: { [file]: "/etc/nginx/snippets/timeouts.conf" } },
  );

  test.each([
    ["header", "GET /slow HTTP/1.1\r\nHost: localhost\r\nX-A: "],
    ["form", "POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc"],
  ])("within a %s is disconnected, and nothing reaches web", async (_, bytes) => {
    await raw(shared.proxy.port, bytes);
    expect((await shared.proxy.web.all()).filter(({ url }) => url === "/slow")).toEqual([]);
  });
  test.each([
    ["/slow-form", 100],
    ["/slow-upload", 20_000],
    ["/monitoring", 100],
  ])("has a reason in the log: %s, %i bytes", async (path, length) => {
    const id = `slow-${length}-${path.slice(1)}`;
    const headers = ["Host: localhost", `X-Request-Id: ${id}`, `Content-Length: ${length}`].join("\r\n");
    await raw(shared.proxy.port, `POST ${path} HTTP/1.1\r\n${headers}\r\n\r\nabc`);
    expect(await shared.proxy.logged(id)).toMatchObject({ status: 408, reason: "client_timeout" });
  });
  test("is told from an app that answers 408", async () => {
    await shared.proxy.web.answer({ ...page, status: 408 });
    await send(shared.proxy.port, { path: "/answers-408" });
    expect(await shared.proxy.logged("/answers-408")).toMatchObject({ status: 408, reason: "" });
  });
});
