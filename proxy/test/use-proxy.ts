import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, inject } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { Answer, RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { type Options, startProxy, type TestProxy } from "./proxy.ts";
import { ingestNames } from "./testbed.ts";
import { type Client, type Request, type Response, raw, send } from "./wire.ts";

/** Settings with which a request's `client` counts. */
export const trusting = { TRUSTED_PROXIES: "0.0.0.0/0" };

/** What web and the ingest answer unless a test sets another response. */
export const page: Answer = { status: 200, headers: { "content-type": "text/html" }, body: "<p>hello</p>" };
export const ok: Answer = { status: 200, headers: { "content-type": "application/json" }, body: '{"id":"9ec7"}' };

/** The page with more headers. */
export const pageWith = (headers: Answer["headers"]): Answer => ({ ...page, headers: { ...page.headers, ...headers } });

/** A well-formed envelope. */
export const envelope = '{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}\n{"type":"event"}\n{"message":"hello"}\n';

/** Settings for three projects at this scheme and port of the recording ingest, in the order in which the proxy numbers them. */
export function threeProjects(scheme = "http", port = 9000): Record<string, string> {
  const [first, second, third] = ingestNames;
  return {
    SENTRY_DSN: `${scheme}://key@${first}:${port}/prefix/7`,
    TUNNEL_ALLOWED_DSNS: `${scheme}://second@${second}:${port}/43,${scheme}://third:secret@${third}:${port}/45`,
  };
}

/** Makes a folder that containers can read, until the end of this run. */
export function publicFolder(): string {
  const folder = mkdtempSync(join(inject("folder"), "files-"));
  chmodSync(folder, 0o755);
  return folder;
}

/** Mounts for a copy of this file of proxy/ that has other text in place of this one: for times that no test can wait for. */
export function changed(
  path: string,
  text: string,
  replacement: string,
  folder = "/etc/nginx",
): Record<string, string> {
  const file = join(publicFolder(), "copy");
  const original = readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  if (!original.includes(text)) throw new Error(`${path} does not contain: ${text}`);
  writeFileSync(file, original.replace(text, replacement), { mode: 0o755 });
  return { [file]: `${folder}/${path}` };
}

interface Exchange<Answer> {
  answer: Answer;
  /** What web or the ingest received meanwhile. */
  received: RecordedRequest[];
  /** A header of the first request that it received. */
  header(name: string): string | undefined;
}

/** A proxy shared by all tests of a file. */
export interface SharedProxy {
  /** The proxy; only there once the tests run. */
  proxy: TestProxy;
  /** Requests `/page`, or what `request` says, as `by` does it; returns the answer with what web received. */
  through(request?: Partial<Request>, by?: Client): Promise<Exchange<Response>>;
  /** Posts an envelope, or what `request` says; returns the answer, which comes after that of the ingest, with what that received. */
  post(request?: Partial<Request>, by?: Client): Promise<Exchange<Response>>;
  /** Writes these bytes (wire.ts); returns the answer with what web received. */
  write(bytes: string, until?: RegExp, proxyLine?: string | Buffer): Promise<Exchange<string>>;
  /** Sends as `send` does, but to the listener without TLS. */
  plainly: Client;
}

/** Starts a proxy before the tests of the calling block and stops it after them. */
export function useProxy(settings: Record<string, string> = {}, options: Options = {}): SharedProxy {
  const exchange = async <T>(service: "web" | "ingest", ask: (port: number) => Promise<T>): Promise<Exchange<T>> => {
    const recorder = shared.proxy[service];
    const mark = await recorder.count();
    const answer = await ask(shared.proxy.port);
    const received = await recorder.all(mark);
    return { answer, received, header: (name) => headerOf(received[0] as RecordedRequest, name) };
  };
  const get = { path: "/page" };
  const post = { method: "POST", path: "/monitoring", headers: { "content-type": "text/plain;charset=UTF-8" } };
  const shared = {
    through: (request, by = send) => exchange("web", (port) => by(port, { ...get, ...request })),
    post: (request, by = send) => exchange("ingest", (port) => by(port, { ...post, body: envelope, ...request })),
    write: (bytes, ...more) => exchange("web", (port) => raw(port, bytes, ...more)),
    plainly: (_, request) => send(shared.proxy.at(8080), request),
  } as SharedProxy;
  beforeAll(async () => {
    shared.proxy = await startProxy(settings, options);
  });
  beforeEach(async () => {
    const { web, web2, ingest } = shared.proxy;
    await Promise.all([web.answer(page), web2?.answer(page), ingest.answer(ok)]);
  });
  afterAll(() => shared.proxy?.stop());
  return shared;
}
