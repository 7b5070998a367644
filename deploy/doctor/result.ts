/** One line of the output: ✓ fine, ✗ wrong, ? undecided, which is no failure. */
export interface Result {
  check: string;
  state: "ok" | "failed" | "unknown";
  found: string;
  /** What to do about it. */
  fix?: string;
}

export const ok = (check: string, found: string): Result => ({ check, state: "ok", found });
export const failed = (check: string, found: string, fix: string): Result => ({ check, state: "failed", found, fix });
export const unknown = (check: string, found: string, fix: string): Result => ({ check, state: "unknown", found, fix });

/** Runs a check and returns its results; an exception becomes an unknown result. Never rejects. */
export async function attempt(check: string, run: () => Promise<Result[]> | Result[]): Promise<Result[]> {
  try {
    return await run();
  } catch (error) {
    return [unknown(check, `could not be checked (${reason(error)})`, "docker compose logs --tail 20 proxy")];
  }
}

/** Returns the shortest text that says why something failed: a system error's code, else its message. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const nested = error instanceof AggregateError ? error.errors[0] : error.cause;
  const code = [error, nested]
    .map((one) => (one as NodeJS.ErrnoException)?.code)
    .find((one) => typeof one === "string");
  return code ?? error.message;
}

/** Returns `text` without values of these environments that are secret, and without keys and passwords in addresses. */
export function mask(text: string, environments: Record<string, string | null>[] = []): string {
  const isSecret = (name: string) => /PASSWORD|TOKEN|SECRET|KEY/.test(name) && !/_FILE$|_KEY_ID$/.test(name);
  const secrets = environments.flatMap(Object.entries<string | null>).flatMap(([name, value]) => {
    // The password in an address, and a DSN's key.
    const inside = [...(value ?? "").matchAll(/:\/\/(?:[^\s/@:]*:)?([^\s/@]+)@/g)].map(([, secret]) => secret);
    return isSecret(name) ? [value, ...inside] : inside;
  });
  return (
    secrets
      .filter((secret) => secret !== undefined && secret !== null)
      // A short value, such as the local ingest's key, may be a part of any word.
      .filter((secret) => secret.length >= 8)
      .reduce((masked, secret) => masked.replaceAll(secret, "•••"), text)
      .replace(/(\w:\/\/)[^\s/@]+@/g, "$1•••@")
  );
}

const symbol = { ok: "✓", failed: "✗", unknown: "?" };
const line = ({ check, state, found, fix }: Result) =>
  `${symbol[state]} ${check.padEnd(15)} ${found}${fix ? `: ${fix}` : ""}`.replace(/\s*\n/g, " ");

/** Prints the results, as lines or with --json as one document, and sets the exit status: 1 when a check failed. */
export function print(results: Result[], environments?: Record<string, string | null>[]): void {
  const wrong = results.filter(({ state }) => state === "failed").length;
  const json = JSON.stringify({ failed: wrong, checks: results }, null, 2);
  const text = process.argv.includes("--json") ? json : results.map(line).join("\n");
  console.log(mask(text, environments));
  process.exitCode = wrong > 0 ? 1 : 0;
}
