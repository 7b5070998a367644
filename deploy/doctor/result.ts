/** How a check ended. `unknown`: it could not be decided, which is no failure. */
export type State = "ok" | "failed" | "unknown";

/** One line of the output. */
export interface Result {
  /** What was checked, such as "certificate". */
  check: string;
  state: State;
  found: string;
  /** What to do about it. */
  fix?: string;
}

/** Returns the result of a check that found what it should. */
export const ok = (check: string, found: string): Result => ({ check, state: "ok", found });

/** Returns the result of a check that found something wrong. */
export const failed = (check: string, found: string, fix: string): Result => ({ check, state: "failed", found, fix });

/** Returns the result of a check that could not be decided. */
export const unknown = (check: string, found: string, fix?: string): Result => ({
  check,
  state: "unknown",
  found,
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
