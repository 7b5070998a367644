import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { certificate } from "../../doctor/checks/certificate.ts";
import { ingest, serverTunnel, tunnel } from "../../doctor/checks/delivery.ts";
import { hiddenPage, page, publicAddress, redirect } from "../../doctor/checks/site.ts";
import { checkOutside } from "../../doctor/doctor.ts";
import type { Target } from "../../doctor/http.ts";
import type { Result } from "../../doctor/result.ts";
import { makePair } from "../support/certificate.ts";

const pair = join(mkdtempSync(join(tmpdir(), "culvert-doctor-")), "site");
makePair(pair, ["localhost"]);

/** Listens until the test ends, and returns the port. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const answer =
  (status: number, headers: Record<string, string> = {}, body = ""): RequestListener =>
  (request, response) => {
    // Sentry's SDK in the app would record this request.
    const isTraced = !/^[0-9a-f]{32}-[0-9a-f]{16}-0$/.test(String(request.headers["sentry-trace"]));
    request.resume();
    response.writeHead(isTraced ? 418 : status, headers).end(body);
  };
const plain = (listener: RequestListener) => listen(createServer(listener));
const secure = (listener: RequestListener) =>
  listen(createTlsServer({ key: readFileSync(`${pair}.key`), cert: readFileSync(`${pair}.crt`) }, listener));
/** Returns a target that answers so, in the proxy's place. */
async function site(listener: RequestListener): Promise<Target> {
  const port = await secure(listener);
  return { host: "127.0.0.1", port, name: "localhost", publicPort: port, basePath: "", tunnelPath: "/monitoring" };
}
const lines = (results: Result[]) =>
  results.map(({ check, state, found, fix }) => `${check} ${state} ${found}: ${fix}`);
const dsn = (port: number, scheme = "http", host = "localhost") => `${scheme}://0123456789abcdef@${host}:${port}/1`;

test("the ingest gets a probe envelope without an event", async () => {
  let sent = "";
  const port = await plain((request, response) => {
    request.setEncoding("utf8").on("data", (chunk) => {
      sent += `${request.url} ${chunk}`;
    });
    request.on("end", () => response.end());
  });
  expect(lines(await ingest(dsn(port)))).toEqual([expect.stringMatching(/^ingest ok localhost \(project 1\)/)]);
  expect(sent).toMatch(/^\/api\/1\/envelope\/ \{.*"name":"culvert\.doctor".*\}\n\{"type":"client_report"\}\n/);
});

test.each<[string, () => Promise<Result[]>, RegExp]>([
  [
    "an ingest that rejects",
    async () => ingest(dsn(await plain(answer(403)))),
    /^ingest failed .* 403 .*is its key active/,
  ],
  ["an ingest without quota", async () => ingest(dsn(await plain(answer(429)))), /^ingest unknown .*quota/],
  [
    "a name without address",
    () => ingest(dsn(80, "http", "no-such-host.invalid")),
    /^ingest failed .* does not resolve/,
  ],
  ["a closed port", () => ingest(dsn(1)), /^ingest failed localhost does not answer \(ECONNREFUSED\)/],
  ["a private CA", async () => ingest(dsn(await secure(answer(200)), "https")), /self signed cert: .*INGEST_CA_FILE/],
  ["the private CA's file", async () => ingest(dsn(await secure(answer(200)), "https"), `${pair}.crt`), /^ingest ok/],
  ["a tunnel that accepts", async () => tunnel(await site(answer(200)), dsn(1)), /^tunnel ok/],
  [
    "one that does not",
    async () => tunnel(await site(answer(503)), dsn(1)),
    /^tunnel failed .*neither ingest nor spool/,
  ],
  ["one without a DSN", async () => tunnel(await site(answer(405))), /^tunnel ok/],
  ["a page in its place", async () => tunnel(await site(answer(404))), /^tunnel failed GET \/monitoring answers 404/],
  [
    "events of the server that only the spool accepts",
    async () =>
      serverTunnel(
        `http://127.0.0.1:${await plain(answer(200, { "X-Envelope-Outcome": "queued" }))}/envelopes`,
        dsn(1),
      ),
    /^server tunnel failed the spool queued/,
  ],
  [
    "a page of the app at the tunnel's path",
    async () =>
      hiddenPage(await site(answer(200)), {
        host: "127.0.0.1",
        port: await plain(answer(200, { "Content-Type": "text/html" })),
      }),
    /^tunnel path failed the app has a page at \/monitoring/,
  ],
  [
    "a self-signed certificate",
    async () => certificate(await site(answer(200)), ["localhost"]),
    /^certificate failed depth zero self signed cert/,
  ],
  [
    "plain HTTP that redirects",
    async () => redirect(await site(answer(200)), await plain(answer(308, { Location: "https://localhost/" }))),
    /^redirect ok/,
  ],
  ["plain HTTP", async () => redirect(await site(answer(200)), await plain(answer(200))), /^redirect failed .*: 200/],
  ["the proxy", async () => publicAddress(await site(answer(404, { "X-Request-Id": "1" }))), /^public address ok/],
  ["another server", async () => publicAddress(await site(answer(200))), /^public address failed .*not this proxy/],
  ["another name's site", async () => publicAddress(await site(answer(421))), /^public address failed .*SERVER_NAME/],
  [
    "a public name without address",
    async () => publicAddress({ ...(await site(answer(200))), name: "no-such-host.invalid" }),
    /^public address failed .*point its DNS record here/,
  ],
  [
    "from outside, nothing that listens",
    async () => checkOutside({ ...(await site(answer(200))), publicPort: 1 }),
    /^public address failed .*ECONNREFUSED/,
  ],
  ["a page", async () => page(await site(answer(200)), "/", ["localhost"]), /^page ok/],
  ["an error page", async () => page(await site(answer(500)), "/", ["localhost"]), /^page failed \/ answers 500/],
  ["no page", async () => page({ ...(await site(answer(200))), port: 1 }, "/", []), /^page failed .*ECONNREFUSED/],
  [
    "a policy that forbids the tunnel",
    async () =>
      page(await site(answer(200, { "Content-Security-Policy": "connect-src https://api.example" })), "/", [
        "localhost",
      ]),
    /^csp failed .*connect-src https:\/\/api\.example, .*add 'self'/,
  ],
])("%s", async (_, check, line) => {
  expect(lines(await check())).toEqual([expect.stringMatching(line)]);
});

test("no page of the app at the tunnel's path: no line", async () => {
  const web = { host: "127.0.0.1", port: await plain(answer(404, { "Content-Type": "text/html" })) };
  expect(await hiddenPage(await site(answer(200)), web)).toEqual([]);
});
