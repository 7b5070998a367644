import { type Result, warning } from "./result.ts";

/** Takes the settings with which a proxy runs, and says which limit that is on by default is off. */
export function limits({ MAX_CONCURRENT_REQUESTS_PER_CLIENT }: Record<string, string>): Result[] {
  if (MAX_CONCURRENT_REQUESTS_PER_CLIENT !== "off") return [];
  const found = "MAX_CONCURRENT_REQUESTS_PER_CLIENT is off: one client can keep web busy for all others";
  return [warning("limits", found, "right behind a CDN that limits its clients itself; else remove it")];
}
