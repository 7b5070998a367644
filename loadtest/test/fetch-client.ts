import type { CheckId } from "../lib/checks.ts";
import type { Client, OutagePhase, Request, Response } from "../lib/client.ts";
import type { Options } from "../lib/options.ts";
import { RecentIds } from "../lib/recent-ids.ts";

export interface Recorded {
  passed: number;
  failed: number;
  examples: string[];
}

/** A client that uses Node's fetch and keeps the recorded checks: journeys run exactly as they do in k6. */
export class FetchClient implements Client {
  readonly recorded = new Map<CheckId, Recorded>();
  readonly pageTimes: number[] = [];
  readonly probedTraceIds = new Set<string>();
  readonly #recent = new RecentIds(1000);

  constructor(
    readonly options: Options,
    readonly currentPhase: OutagePhase | undefined = undefined,
  ) {}

  async request({ method = "GET", path, headers, body }: Request): Promise<Response> {
    const begin = performance.now();
    try {
      const response = await fetch(this.options.baseUrl + path, { method, headers, body, redirect: "manual" });
      const text = await response.text();
      const milliseconds = performance.now() - begin;
      if (response.headers.get("content-type")?.startsWith("text/html")) this.pageTimes.push(milliseconds);
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: text,
        milliseconds,
        error: "",
      };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      return { status: 0, headers: {}, body: "", milliseconds: performance.now() - begin, error: cause };
    }
  }

  check(id: CheckId, ok: boolean, example = "", traceId = ""): void {
    const recorded = this.recorded.get(id) ?? { passed: 0, failed: 0, examples: [] };
    if (ok) recorded.passed++;
    else {
      recorded.failed++;
      recorded.examples.push(`${example} [${traceId}]`);
    }
    this.recorded.set(id, recorded);
  }

  recordTraceId(traceId: string): boolean {
    return this.#recent.add(traceId);
  }

  phase(): OutagePhase | undefined {
    return this.currentPhase;
  }
}
