import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Target } from "../../doctor/http.ts";
import { makePair } from "../support/certificate.ts";

let base = "";

/** Returns the path of a self-signed certificate for localhost and its key, without .crt and .key; made once. */
export function pair(): string {
  if (!base) {
    base = join(mkdtempSync(join(tmpdir(), "culvert-doctor-")), "site");
    makePair(base, ["localhost"]);
  }
  return base;
}

/** Listens until the test ends, and returns the port. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Answers plain HTTP until the test ends; returns the port. */
export const serve = (answer: RequestListener) => listen(createServer(answer));

/** Answers HTTPS, HTTP/2 as well if asked for, until the test ends; returns the port. */
export function serveTls(answer: RequestListener, http2 = false): Promise<number> {
  const files = { key: readFileSync(`${pair()}.key`), cert: readFileSync(`${pair()}.crt`) };
  if (!http2) return listen(createTlsServer(files, answer));
  return listen(createSecureServer({ ...files, allowHTTP1: true }, answer as never));
}

/** Returns a target that is a proxy which answers so; but 418 to a request that Sentry's SDK in the app would record. */
export async function site(answer: RequestListener, http2 = false): Promise<Target> {
  const port = await serveTls((request, response) => {
    if (/^[0-9a-f]{32}-[0-9a-f]{16}-0$/.test(String(request.headers["sentry-trace"]))) answer(request, response);
    else response.writeHead(418).end();
  }, http2);
  return { host: "127.0.0.1", port, name: "localhost", publicPort: port, basePath: "", tunnelPath: "/monitoring" };
}
