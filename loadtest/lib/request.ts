import type { BROWSER_HEADERS } from "./browser-headers.ts";

/** What a request is for. Each kind has limits of its own. */
export const KINDS = [
  ...(["page", "navigation", "action", "redirect", "file"] as const),
  ...(["echo", "404", "envelope", "rejected", "delivery"] as const),
];
export type Kind = (typeof KINDS)[number];

export interface Request {
  method?: "GET" | "POST";
  path: string;
  kind: Kind;
  /** Its route, without ids. Default: the path. */
  name?: string;
  headers?: Record<string, string>;
  /** What a browser would request it as, if not as its kind says. */
  as?: keyof typeof BROWSER_HEADERS;
  body?: string | ArrayBuffer;
  compressed?: boolean;
  traceId?: string;
  /** Left out of the durations, because its timing is not typical. */
  untimed?: boolean;
}

export interface Response {
  /** 0 if there was no response that can be read; `error` gives the reason. */
  status: number;
  /** Names in lower case; values of repeated headers joined with ", ". */
  headers: Record<string, string>;
  body: string;
  milliseconds: number;
  isReused: boolean;
  error: string;
  /** The body cannot be decompressed: that is an answer, and a wrong one. */
  undecodable: boolean;
  at: string;
  /** The trace that the request carried, else the page's. */
  traceId: string;
}

/** The target did not answer. */
export class Unavailable extends Error {}

/** Rate-limited, or no upstream. Any other answer is judged by its content. */
const NOT_NOW = [429, 502, 503, 504];

/** Whether the target answered. A rate limit that names its categories is an answer that the SDK understands. */
export function isAnswer({ status, headers, undecodable }: Response): boolean {
  if (status === 0) return undecodable;
  return !NOT_NOW.includes(status) || headers["x-sentry-rate-limits"] !== undefined;
}

/** The responses to concurrent requests; undefined in place of those that were not answered. */
export async function answers(requests: Promise<Response>[]): Promise<(Response | undefined)[]> {
  return Promise.all(
    requests.map((request) =>
      request.catch((error) => {
        if (!(error instanceof Unavailable)) throw error;
        return undefined;
      }),
    ),
  );
}
