import type { CheckId } from "./checks.ts";
import type { Options } from "./options.ts";

/** What a request is for; `upstream`: the app's own call while it answers. Each kind has its own durations, availability and limits. */
export const KINDS = [
  "page",
  "navigation",
  "action",
  "redirect",
  "file",
  "echo",
  "404",
  "envelope",
  "rejected",
  "upstream",
] as const;
export type Kind = (typeof KINDS)[number];

export interface Request {
  method?: "GET" | "POST";
  /** Below BASE_URL, including the query. */
  path: string;
  kind: Kind;
  /** Names the request in the results: its route, without ids. Default: the path. */
  name?: string;
  headers?: Record<string, string>;
  body?: string | ArrayBuffer;
  /** The trace that the request carries. */
  traceId?: string;
  /** Left out of the durations, because its timing is not typical. */
  untimed?: true;
}

export interface Response {
  /** 0 if there was no response; `error` gives the reason. */
  status: number;
  /** Names in lower case; values of repeated headers joined with ", ". */
  headers: Record<string, string>;
  body: string;
  milliseconds: number;
  error: string;
  /** Method and path of the request. */
  at: string;
  /** The trace that the request carried, else the page's. */
  traceId: string;
}

/** Where in an outage a run is; `transition` is the time around its start and end, when either result is correct. */
export type OutagePhase = "before" | "down" | "after" | "transition";

/** Sends a journey's requests and records its checks. Implemented with k6, and with Node's fetch for the unit tests. */
export interface Client {
  options: Options;
  /**
   * Sends a request without cookies and counts its availability. Never follows a redirect. Throws Unavailable without an answer, except
   * for an envelope, whose journeys check every outcome.
   */
  request(request: Request): Promise<Response>;
  /** Records one result of a check. Only the first failure of each virtual user is kept: `example` says what was expected and what came. */
  check(id: CheckId, ok: boolean, on?: Response, example?: string): void;
  /** Counts whether the API answered that the app called for this response: an overload of it is no fault of the trace. */
  recordUpstream(on: Response, answered: boolean): void;
  /** Records a trace id that a page started; returns whether this virtual user has not seen it before. */
  recordTraceId(traceId: string): boolean;
  /** The pages before the run, by path. */
  probed: Record<string, Probe>;
  /** Tells the reader beside k6 which envelope was accepted, so that it can look for it; does nothing without INGEST. */
  recordSent(eventId: string, body: ArrayBuffer, response: Response): Promise<void>;
  /** The current phase of the outage profile; undefined for other profiles. */
  phase(): OutagePhase | undefined;
}

/** A page before the run: its trace, which a cached page returns again, and its length, which a truncated page does not reach. */
export interface Probe {
  traceId: string;
  length: number;
}

export type Journey = (client: Client) => Promise<void>;

/** The target did not answer: no statement about what it would have answered. */
export class Unavailable extends Error {}

/** Statuses that say "not now": rate-limited, or no upstream. Any other answer is judged by its content. */
const NOT_NOW = [429, 502, 503, 504];

/** Whether the target answered. A rate limit that names its categories is an answer that the SDK understands. */
export function isAnswer({ status, headers }: Response): boolean {
  return status !== 0 && (!NOT_NOW.includes(status) || headers["x-sentry-rate-limits"] !== undefined);
}

/** The responses to concurrent requests, without those that were not answered. */
export async function answers(requests: Promise<Response>[]): Promise<(Response | undefined)[]> {
  const settled = await Promise.allSettled(requests);
  return settled.map((one) => {
    if (one.status === "fulfilled") return one.value;
    if (one.reason instanceof Unavailable) return undefined;
    throw one.reason;
  });
}
