import { rateLimitNames } from "../queue/priority.ts";

const allCategories = "";
const defaultLimitMs = 60_000;
const maxLimitMs = 24 * 3_600_000;

/** Response headers as Node has them, with lower-case names. */
type Headers = Record<string, string | string[] | undefined>;

/** The rate limits that an ingest has set, by category. Times are those of performance.now(): the wall clock may be set. */
export class RateLimits {
  #until = new Map<string, number>();

  /**
   * Takes over the limits of a response. X-Sentry-Rate-Limits applies with any status; a 429 without it limits all categories
   * for Retry-After, or for a minute. https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
   */
  update(status: number, headers: Headers, now = performance.now()): void {
    const limits = String(headers["x-sentry-rate-limits"] ?? "")
      .split(",")
      .map((limit) => limit.trim().split(":"));
    let isValid = false;
    for (const [seconds = "", categories = ""] of limits) {
      const limitMs = Number(seconds) * 1_000;
      if (seconds === "" || !(limitMs >= 0)) continue;
      isValid = true;
      for (const name of categories.split(";")) this.#extend(name.trim(), now + limitMs, now);
    }
    if (status === 429 && !isValid) this.#extend(allCategories, now + (retryAfterMs(headers) ?? defaultLimitMs), now);
  }

  /** Until when a category is limited; a time in the past if it is not. */
  until(category: string): number {
    return Math.max(...[allCategories, ...rateLimitNames(category)].map((name) => this.#until.get(name) ?? 0));
  }

  #extend(name: string, until: number, now: number): void {
    this.#until.set(name, Math.max(this.#until.get(name) ?? 0, Math.min(until, now + maxLimitMs)));
  }
}

/** The time that a Retry-After header asks to wait, at most a day; undefined without a valid header. RFC 9110, 10.2.3. */
export function retryAfterMs(headers: Headers, now = Date.now()): number | undefined {
  const value = String(headers["retry-after"] ?? "").trim();
  const waitMs = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), maxLimitMs);
}
