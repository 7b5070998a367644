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

const symbol = { ok: "✓", failed: "✗", unknown: "?" };
const line = ({ check, state, found, fix }: Result) =>
  `${symbol[state]} ${check.padEnd(15)} ${found}${fix ? `: ${fix}` : ""}`.replace(/\s*\n/g, " ");

/** Prints the results, as lines or with --json as one document, and sets the exit status: 1 when a check failed. */
export function print(results: Result[]): void {
  const wrong = results.filter(({ state }) => state === "failed").length;
  const json = JSON.stringify({ failed: wrong, checks: results }, null, 2);
  const text = process.argv.includes("--json") ? json : results.map(line).join("\n");
  // The last line of a log may have a DSN, or an address with a password.
  console.log(text.replace(/(\w:\/\/)[^\s/@]+@/g, "$1•••@"));
  process.exitCode = wrong > 0 ? 1 : 0;
}
