import type { Result } from "./result.ts";

const symbol = { ok: "✓", failed: "✗", unknown: "?" } as const;

/**
 * Returns `text` without secrets: each of `secrets`, and the key of anything that looks like a DSN or a URL with
 * credentials. What is shorter than six characters is no secret and may be part of a word.
 */
export function mask(text: string, secrets: Iterable<string> = []): string {
  const known = [...secrets].filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);
  return known
    .reduce((masked, secret) => masked.replaceAll(secret, "•••"), text)
    .replace(/(\w:\/\/)[^\s/@]+@/g, "$1•••@")
    .replace(/(sentry_key=)\w+/g, "$1•••");
}

/** Returns a line for each result, or one JSON document with all of them, without secrets. */
export function format(results: Result[], json: boolean, secrets: Iterable<string> = []): string {
  const text = json
    ? JSON.stringify({ failed: results.filter(({ state }) => state === "failed").length, checks: results }, null, 2)
    : results.map(line).join("\n");
  return mask(text, secrets);
}

/** Returns the exit status that belongs to these results: 1 when a check failed. */
export function exitStatus(results: Result[]): 0 | 1 {
  return results.some(({ state }) => state === "failed") ? 1 : 0;
}

const line = ({ check, state, found, fix }: Result) =>
  `${symbol[state]} ${check.padEnd(17)} ${found}${fix ? `: ${fix}` : ""}`.replace(/\s+\n|\n/g, " ");
