import { afterAll, beforeAll } from "vitest";
import type { Answer, RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { type Options, startProxy, type TestProxy } from "./proxy.ts";
import { type Request, type Response, send } from "./wire.ts";

/** What web answers unless a test sets another response. */
export const page: Answer = { status: 200, headers: { "content-type": "text/html" }, body: "<p>hello</p>" };

/** A proxy shared by all tests of a file. */
export interface SharedProxy {
  /** The proxy; only there once the tests run. */
  proxy: TestProxy;
  /** Sends a request (`/page` unless it says else) and returns the answer with what web received of it. */
  through(request?: Partial<Request>): Promise<{ answer: Response; received: RecordedRequest[] }>;
}

/** Starts a proxy before the tests of the calling file and stops it after them. */
export function useProxy(settings: Record<string, string> = {}, options: Options = {}): SharedProxy {
  const shared = {
    through: async (request: Partial<Request> = {}) => {
      const mark = await shared.proxy.web.count();
      const answer = await send(shared.proxy.port, { path: "/page", ...request });
      return { answer, received: await shared.proxy.web.all(mark) };
    },
  } as SharedProxy;
  beforeAll(async () => {
    shared.proxy = await startProxy(settings, options);
  });
  afterAll(() => shared.proxy?.stop());
  return shared;
}
