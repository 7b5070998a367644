import type { BROWSER_HEADERS } from "./browser-headers.ts";

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
  "delivery",
] as const;
export type Kind = (typeof KINDS)[number];

export interface Request {
  method?: "GET" | "POST";
  path: string;
  kind: Kind;
  /** Its route, without ids. Default: the path. */
  name?: string;
  headers?: Record<string, string>;
  /** Whose headers a browser sends, if not those of its kind. */
  as?: keyof typeof BROWSER_HEADERS;
  body?: string | ArrayBuffer;
  compressed?: boolean;
  traceId?: string;
  /** Not typical: left out of the durations. */
  untimed?: boolean;
}

export interface Response {
  /** 0 if no response could be read: `error` says why. */
  status: number;
  /** Names in lower case; repeated headers are joined with ", ". */
  headers: Record<string, string>;
  body: string;
  milliseconds: number;
  /** It needed no new connection. */
  isReused: boolean;
  error: string;
  /** A wrong answer: its body cannot be decompressed. */
  undecodable: boolean;
  at: string;
  /** The trace that the request carried, else the page's. */
  traceId: string;
}

export class Unavailable extends Error {}

/** Rate-limited, or no upstream. */
const NOT_NOW = [429, 502, 503, 504];

/** Whether the target answered. SDKs understand a rate limit that names its categories. */
export function isAnswer({ status, headers, undecodable }: Response): boolean {
  if (status === 0) return undecodable;
  return !NOT_NOW.includes(status) || headers["x-sentry-rate-limits"] !== undefined;
}

/** The responses to concurrent requests; undefined without an answer. */
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
