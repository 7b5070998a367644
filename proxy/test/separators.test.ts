import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { closeHeld, stall } from "./held.ts";
import { envelope, useProxy } from "./use-proxy.ts";
import { type Request, send, sendPlain } from "./wire.ts";

const shared = useProxy({ SERVER_NAME: "app.example.com", TRUSTED_PROXIES: "0.0.0.0/0" });
afterEach(closeHeld);

const host = "app.example.com";
const post = { method: "POST", path: "/monitoring", headers: { "content-type": "text/plain" }, body: envelope };
const ask = (headers: Record<string, string>, more: Partial<Request> = {}): Request => ({
  ...{ path: "/page", ...more },
  headers: { host, "x-forwarded-proto": "https", ...more.headers, ...headers },
});
const preflight = { ...post, method: "OPTIONS", body: "" };
const asPreflight = (method: string) => ({ "access-control-request-method": method });

/** By map: a request with the separator in each field that a client chooses, and the status that it has without. */
const table: [map: string, request: Request, status: number][] = [
  ["address_status", ask({ host: "evil.example" }, { path: "/|/.culvert/health" }), 421],
  ["address_status", ask({ "x-forwarded-proto": "http" }, { path: "/|443|app.example.com|/.culvert/" }), 308],
  ["address_status", ask({ "x-forwarded-proto": "https|http" }), 400],
  ["requested_port", ask({ "x-forwarded-host": "app.example.com|:9443" }), 421],
  ["requested_port", ask({ "x-forwarded-port": "443|80" }), 400],
  ["refused_origin", ask({ origin: "https://evil.example|https://localhost" }, post), 403],
  ["refused_origin", ask({ origin: "https://localhost|" }, post), 403],
  ["is_preflight", ask({ origin: "https://localhost", ...asPreflight("x|POST") }, preflight), 405],
  ["is_preflight", ask(asPreflight("https://localhost|POST"), preflight), 405],
];
test.each(table)("a separator in a field of $%s says nothing of another one: %j", async (_, request, status) => {
  for (const by of [send, (_: number, one: Request) => sendPlain(shared.proxy.at(8080), one)])
    expect((await by(shared.proxy.port, request)).status).toBe(status);
});

test.each<Record<string, string>>([
  { accept: "*/*|" },
  { accept: "*/*", rsc: "|" },
  { accept: "*/*", "next-action": "|" },
])("what is no document has no nonce: %j", async (headers) => {
  const { received } = await shared.through(ask(headers));
  expect(received.map((one) => headerOf(one, "content-security-policy"))).toEqual([undefined]);
});

// $after_failure: the key of a client is its address, and this one's bytes are separators.
test("a client of 124.124.124.124 gets 503 for its fifth large envelope, as any other does", async () => {
  const client = "124.124.124.124";
  for (let n = 0; n < 4; n++) await stall(shared.proxy.port, { path: "/monitoring", client, size: 1 << 20 });
  const large = ask({ "x-forwarded-for": client }, { ...post, body: Buffer.alloc(1 << 20) });
  const answer = async () => (await send(shared.proxy.port, large)).body;
  await expect.poll(answer).toBe('{"reason":"no capacity for this envelope now"}');
});

test("each map of joined fields is tried here, or has none that a client chooses freely", () => {
  const folder = fileURLToPath(new URL("../", import.meta.url));
  const files = ["templates", "snippets"].flatMap((name) =>
    readdirSync(`${folder}${name}`).map((one) => `${name}/${one}`),
  );
  const text = files.filter((one) => one.endsWith(".conf")).map((one) => readFileSync(folder + one, "utf8"));
  const maps = Array.from(text.join("\n").matchAll(/^map "[^"]*\|[^"]*" \$(\w+)/gm), ([, name]) => name);
  // sets.test.ts has the first one's.
  const others = "asked_deployment asked_release csp csp_enforced csp_reported failed_by hsts".split(" ");
  const here = [...table.map(([map]) => map), "csp_for_web", "after_failure"];
  expect(new Set(maps)).toEqual(new Set([...others, ...here]));
});
