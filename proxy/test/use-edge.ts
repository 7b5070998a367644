import { afterAll, beforeAll } from "vitest";
import type { Answer, RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { type Edge, type Options, startEdge } from "./edge.ts";
import { type Request, type Response, send } from "./wire.ts";

/** What web answers where a test does not care. */
export const page: Answer = { status: 200, headers: { "content-type": "text/html" }, body: "<p>hello</p>" };

/** An edge that stands for all tests of a file. */
export interface PageEdge {
  /** The edge; only there once the tests run. */
  edge: Edge;
  /** Sends a request (`/page` unless it says else) and returns the answer with what web received of it. */
  through(request?: Partial<Request>): Promise<{ answer: Response; received: RecordedRequest[] }>;
}

/** Starts an edge before the tests of the calling file and stops it after them. */
export function useEdge(settings: Record<string, string> = {}, options: Options = {}): PageEdge {
  const shared = {
    through: async (request: Partial<Request> = {}) => {
      const mark = await shared.edge.web.count();
      const answer = await send(shared.edge.port, { path: "/page", ...request });
      return { answer, received: (await shared.edge.web.all()).slice(mark) };
    },
  } as PageEdge;
  beforeAll(async () => {
    shared.edge = await startEdge(settings, options);
  });
  afterAll(() => shared.edge?.stop());
  return shared;
}
