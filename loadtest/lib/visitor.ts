import type { CheckId } from "./checks.ts";
import type { Knobs } from "./knobs.ts";

export interface Ask {
  method?: "GET" | "POST" | "PUT";
  /** Below BASE_URL, query included. */
  path: string;
  /** Names the request in reports: the route, without ids. */
  name: string;
  headers?: Record<string, string>;
  body?: string | ArrayBuffer;
  /** Goes to the samples as metadata, so that a slow request leads to its trace. */
  traceId?: string;
  /** Its time says nothing about the usual page's. */
  untimed?: true;
}

export interface Answer {
  /** 0: no answer at all; `error` says why. */
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
  milliseconds: number;
  error: string;
}

/** How a journey acts and reports. k6 is one implementation, the unit tests' fetch another: journeys know neither. */
export interface Visitor {
  knobs: Knobs;
  /** Sends a request, with no cookies of an earlier visitor; never follows redirects, never throws on a bad answer. */
  ask(ask: Ask): Promise<Answer>;
  /** Books one result of a check; `example` says what was wrong, in one line, and is kept for the first failure only. */
  check(id: CheckId, ok: boolean, example?: string, traceId?: string): void;
  /** Books a trace id that a visitor was given; says whether it was new as far as this visitor's process remembers. */
  meet(traceId: string): boolean;
  /** Ids that another process met before the run: a page cached at build time shows one of them. */
  known: ReadonlySet<string>;
  /** Where in the outage the run is; undefined outside the outage profile. */
  phase(): "before" | "down" | "after" | "edge" | undefined;
}

export type Journey = (visitor: Visitor) => Promise<void>;
