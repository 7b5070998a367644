import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Answer, RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { type Options, startProxy, type TestProxy } from "./proxy.ts";
import { ingestNames } from "./testbed.ts";
import { type Request, type Response, send } from "./wire.ts";

/** What web and the ingest answer unless a test sets another response. */
export const page: Answer = { status: 200, headers: { "content-type": "text/html" }, body: "<p>hello</p>" };
export const ok: Answer = { status: 200, headers: { "content-type": "application/json" }, body: '{"id":"9ec7"}' };

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

type Exchange = Promise<{ answer: Response; received: RecordedRequest[] }>;

/** A proxy shared by all tests of a file. */
export interface SharedProxy {
  /** The proxy; only there once the tests run. */
  proxy: TestProxy;
  /** Requests `/page`, or what `request` says, as `by` does it; returns the answer with what web received. */
  through(request?: Partial<Request>, by?: typeof send): Exchange;
  /** Posts an envelope, or what `request` says; returns the answer, which comes after that of the ingest, with what that received. */
  post(request?: Partial<Request>, by?: typeof send): Exchange;
}

/** Starts a proxy before the tests of the calling block and stops it after them. */
export function useProxy(settings: Record<string, string> = {}, options: Options = {}): SharedProxy {
  const exchange = async (service: "web" | "ingest", request: Request, by = send) => {
    const recorder = shared.proxy[service];
    const mark = await recorder.count();
    const answer = await by(shared.proxy.port, request);
    return { answer, received: await recorder.all(mark) };
  };
  const post = { method: "POST", path: "/monitoring", headers: { "content-type": "text/plain;charset=UTF-8" } };
  const shared = {
    through: (request, by) => exchange("web", { path: "/page", ...request }, by),
    post: (request, by) => exchange("ingest", { ...post, body: envelope, ...request }, by),
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
