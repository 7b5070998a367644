import type { CheckId } from "../lib/checks.ts";
import type { Knobs } from "../lib/knobs.ts";
import type { Phase } from "../lib/stages.ts";
import { RecentIds } from "../lib/unique.ts";
import type { Answer, Ask, Visitor } from "../lib/visitor.ts";

export interface Booked {
  passed: number;
  failed: number;
  examples: string[];
}

/** A visitor that acts through Node's fetch and keeps what was booked: journeys run in it exactly as they do in k6. */
export class FetchVisitor implements Visitor {
  readonly booked = new Map<CheckId, Booked>();
  readonly pageTimes: number[] = [];
  readonly known = new Set<string>();
  readonly #recent = new RecentIds(1000);

  constructor(
    readonly knobs: Knobs,
    readonly now: Phase | undefined = undefined,
  ) {}

  async ask({ method = "GET", path, headers, body }: Ask): Promise<Answer> {
    const begin = performance.now();
    try {
      const response = await fetch(this.knobs.baseUrl + path, { method, headers, body, redirect: "manual" });
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
    const booked = this.booked.get(id) ?? { passed: 0, failed: 0, examples: [] };
    if (ok) booked.passed++;
    else {
      booked.failed++;
      booked.examples.push(`${example} [${traceId}]`);
    }
    this.booked.set(id, booked);
  }

  meet(traceId: string): boolean {
    return this.#recent.add(traceId);
  }

  phase(): Phase | undefined {
    return this.now;
  }
}
