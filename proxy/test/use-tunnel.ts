import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Edge, startEdge } from "./edge.ts";
import type { RecordedRequest } from "./recorder/types.ts";
import { type Request, type Response, send } from "./wire.ts";

/** A well-formed envelope, and what the recording ingest answers to it. */
export const envelope = '{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}\n{"type":"event"}\n{"message":"hello"}\n';
export const ok = { status: 200, headers: { "content-type": "application/json" }, body: '{"id":"9ec7"}' };

/** A tunnel to three projects that stands for all tests of a file. */
export interface TunnelEdge {
  /** The edge; only there once the tests run. */
  edge: Edge;
  /** Posts an envelope (or what `request` says) and returns the answer with what the ingest received of it. */
  through(request?: Partial<Request>): Promise<{ answer: Response; received: RecordedRequest[] }>;
}

/** Starts an edge with two further allowed DSNs before the tests of the calling file and stops it after them. */
export function useTunnel(): TunnelEdge {
  const shared = {
    through: async (request: Partial<Request> = {}) => {
      const mark = await shared.edge.ingest.count();
      const usual = {
        method: "POST",
        path: "/monitoring",
        headers: { "content-type": "text/plain;charset=UTF-8" },
        body: envelope,
      };
      // The proxy answers only after the ingest did.
      const answer = await send(shared.edge.port, { ...usual, ...request });
      return { answer, received: (await shared.edge.ingest.all()).slice(mark) };
    },
  } as TunnelEdge;
  beforeAll(async () => {
    shared.edge = await startEdge(
      {
        TUNNEL_ALLOWED_DSNS: "http://second@o42.ingest.us.sentry.io:9000/43,http://third@o44.ingest.sentry.io:9000/45",
      },
      { ingestNames: ["o42.ingest.us.sentry.io", "o44.ingest.sentry.io"] },
    );
  });
  afterAll(() => shared.edge?.stop());
  beforeEach(() => shared.edge.ingest.answer(ok));
  return shared;
}
