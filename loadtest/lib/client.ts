import type { CheckId } from "./checks.ts";
import type { Options } from "./options.ts";

export interface Request {
  method?: "GET" | "POST" | "PUT";
  /** Below BASE_URL, including the query. */
  path: string;
  /** Names the request in the results: its route, without ids. */
  name: string;
  headers?: Record<string, string>;
  body?: string | ArrayBuffer;
  /** Added to the samples as metadata, so that a slow request leads to its trace. */
  traceId?: string;
  /** Left out of the page and tunnel durations because its timing is not typical. */
  untimed?: true;
}

export interface Response {
  /** 0 if there was no response; `error` gives the reason. */
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
  milliseconds: number;
  error: string;
}

/** Where in an outage a run is; `transition` is the time around its start and end, when either result is correct. */
export type OutagePhase = "before" | "down" | "after" | "transition";

/** Sends a journey's requests and records its checks. Implemented with k6, and with Node's fetch for the unit tests. */
export interface Client {
  options: Options;
  /** Sends a request without cookies. Never follows a redirect; never throws on an error response. */
  request(request: Request): Promise<Response>;
  /** Records one result of a check. `example` describes the failure in one line; only the first one is kept. */
  check(id: CheckId, ok: boolean, example?: string, traceId?: string): void;
  /** Records a trace id that a page started; returns whether this virtual user has not seen it before. */
  recordTraceId(traceId: string): boolean;
  /** Trace ids seen before the run: a page cached at build time returns one of them again. */
  probedTraceIds: ReadonlySet<string>;
  /** The current phase of the outage profile; undefined for other profiles. */
  phase(): OutagePhase | undefined;
}

export type Journey = (client: Client) => Promise<void>;
