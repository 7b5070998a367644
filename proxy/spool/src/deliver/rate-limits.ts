import { limitNames } from "../queue/priority.ts";

const all = "";
const unsaid = 60_000;
const longest = 24 * 3_600_000;

/** What an ingest has asked to be spared, by category and until when, by performance.now(): the wall clock may be set. */
export class RateLimits {
  #until = new Map<string, number>();

  /**
   * Takes an answer's status and headers (Node's, lower-case names) and remembers its limits.
   * X-Sentry-Rate-RateLimits counts with any status; Retry-After, or a minute, where a 429 comes without it.
   * https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
   */
  heed(status: number, headers: Record<string, string | string[] | undefined>, now = performance.now()): void {
    const groups = String(headers["x-sentry-rate-limits"] ?? "")
      .split(",")
      .map((group) => group.trim().split(":"));
    let understood = false;
    for (const [seconds = "", categories = ""] of groups) {
      const time = Number(seconds) * 1_000;
      if (seconds === "" || !(time >= 0)) continue;
      understood = true;
      for (const name of categories.split(";")) this.#extend(name.trim(), now + time, now);
    }
    if (status === 429 && !understood) this.#extend(all, now + (retryAfter(headers) ?? unsaid), now);
  }

  /** Until when a category has to wait; a time in the past when it has not. */
  until(category: string): number {
    return Math.max(...[all, ...limitNames(category)].map((name) => this.#until.get(name) ?? 0));
  }

  #extend(name: string, until: number, now: number): void {
    this.#until.set(name, Math.max(this.#until.get(name) ?? 0, Math.min(until, now + longest)));
  }
}

/** The wait that a Retry-After header asks for, in ms, at most a day; undefined without a readable one. RFC 9110, 10.2.3. */
export function retryAfter(
  headers: Record<string, string | string[] | undefined>,
  now = Date.now(),
): number | undefined {
  const value = String(headers["retry-after"] ?? "").trim();
  const wait = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longest);
}
