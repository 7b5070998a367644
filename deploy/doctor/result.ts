/** One line of the output: ✓ fine, ✗ wrong, ? could not be decided, which is no failure. */
export interface Result {
  check: string;
  state: "ok" | "failed" | "unknown";
  found: string;
  /** What to do about it. */
  fix?: string;
}

export const ok = (check: string, found: string): Result => ({ check, state: "ok", found });
export const failed = (check: string, found: string, fix: string): Result => ({ check, state: "failed", found, fix });
export const unknown = (check: string, found: string, fix?: string): Result => ({
  ...{ check, state: "unknown", found },
  ...(fix && { fix }),
});

/** Runs a check and returns its results; an exception becomes an unknown result. Never throws. */
export async function attempt(check: string, run: () => Promise<Result[]> | Result[]): Promise<Result[]> {
  try {
    return await run();
  } catch (error) {
    return [unknown(check, `could not be checked: ${reason(error)}`)];
  }
}

/** Returns the shortest text that says why something failed: a system error's code, else its message. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError" || error.name === "AbortError") return "timed out";
  const nested = error instanceof AggregateError ? error.errors[0] : error.cause;
  const code = (error as NodeJS.ErrnoException).code ?? (nested as NodeJS.ErrnoException | undefined)?.code;
  return code ?? (error.message || error.name);
}

/** Returns `text` without the values of secret settings, and without keys of whatever looks like a DSN or a URL with credentials. */
export function mask(text: string, environments: Record<string, string | null | undefined>[] = []): string {
  const isSecret = (name: string) => /PASSWORD|TOKEN|SECRET|KEY/.test(name) && !/_FILE$|_KEY_ID$/.test(name);
  const secrets = environments.flatMap(Object.entries<string | null | undefined>).flatMap(([name, value]) => {
    if (!value) return [];
    // The password in an address, and a DSN's key. A short key, such as the local ingest's, is a word that other texts contain.
    const inAddresses = [...value.matchAll(/:\/\/(?:[^\s/@:]*:([^\s/@]+)|(\w{16,}))@/g)].flatMap(
      ([, password, key]) => password ?? key ?? [],
    );
    return isSecret(name) ? [value, ...inAddresses] : inAddresses;
  });
  // A short value may be a part of any word.
  const known = [...new Set(secrets)].filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);
  return known
    .reduce((masked, secret) => masked.replaceAll(secret, "•••"), text)
    .replace(/(\w:\/\/)[^\s/@]+@/g, "$1•••@")
    .replace(/(sentry_key=)\w+/g, "$1•••");
}

const symbol = { ok: "✓", failed: "✗", unknown: "?" };
const line = ({ check, state, found, fix }: Result) =>
  `${symbol[state]} ${check.padEnd(15)} ${found}${fix ? `: ${fix}` : ""}`.replace(/\s*\n/g, " ");

/** Prints the results, as lines or as one JSON document, and sets the exit status: 1 when a check failed. */
export function print(results: Result[], environments: Record<string, string | null | undefined>[] = []): void {
  const wrong = results.filter(({ state }) => state === "failed").length;
  const json = process.argv.includes("--json");
  const text = json ? JSON.stringify({ failed: wrong, checks: results }, null, 2) : results.map(line).join("\n");
  console.log(mask(text, environments));
  process.exitCode = wrong > 0 ? 1 : 0;
}
