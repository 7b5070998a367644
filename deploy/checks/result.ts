/** One line of the output of doctor, verify-cluster and check-app. With --json, `print` writes these as `checks`. */
export interface Result {
  check: string;
  /** `warning`: a fact that will hurt, or that only you can judge. `skipped`: not checked, or it follows from another fault. */
  state: "ok" | "failed" | "warning" | "skipped";
  found: string;
  /** What to do about it. */
  fix?: string;
}

export const ok = (check: string, found: string): Result => ({ check, state: "ok", found });
export const failed = (check: string, found: string, fix: string): Result => ({ check, state: "failed", found, fix });
export const warning = (check: string, found: string, fix: string): Result => ({ check, state: "warning", found, fix });
export const skipped = (check: string, found: string): Result => ({ check, state: "skipped", found });

/** Runs a check and returns its results; an exception becomes a warning. Never rejects. */
export async function attempt(check: string, run: () => Promise<Result[]> | Result[]): Promise<Result[]> {
  try {
    return await run();
  } catch (error) {
    return [warning(check, `could not be checked (${reason(error)})`, "docker compose logs --tail 20 proxy")];
  }
}

/** Whether a result says only that there was no answer, or that of a server that fails. */
const isUnanswered = ({ found }: Result) => /could not be checked|does not answer|answers 5\d\d/.test(found);

/** Runs a check that depends on others. What is wrong here and ends when the cause is mended, as `follows` says, is skipped. */
export async function after(
  causes: Result[],
  run: () => Promise<Result[]> | Result[],
  follows: (one: Result, cause: Result) => boolean = isUnanswered,
): Promise<Result[]> {
  const failures = causes.filter(({ state }) => state === "failed");
  return (await run()).map((one) => {
    const cause = one.state === "ok" ? undefined : failures.find((failure) => follows(one, failure));
    return cause ? skipped(one.check, `${one.found}: follows from the line on ${cause.check}`) : one;
  });
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

const symbol = { ok: "✓", failed: "✗", warning: "!", skipped: "-" };
const line = ({ check, state, found, fix }: Result) =>
  `${symbol[state]} ${check.padEnd(15)} ${found}${fix ? `: ${fix}` : ""}`.replace(/\s*\n/g, " ");
// The last line of a log may have a DSN, or an address with a password; a page, what controls a terminal.
const write = (text: string) =>
  console.log(text.replace(/(\w:\/\/)[^\s/@]+@/g, "$1•••@").replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, "\uFFFD"));
const isJson = process.argv.includes("--json");
const all = new Map<string, Result>();

/** Prints results, a line for each; the same line only once. With --json, `finish` prints them. */
export function report(results: Result[]): void {
  for (const result of results) {
    if (!isJson && !all.has(line(result))) write(line(result));
    all.set(line(result), result);
  }
}

/** Ends the output: with a last line or as one document. Sets the exit status: 1 if a check failed. */
export function finish(): void {
  const checks = [...all.values()];
  const count = (wanted: Result["state"]) => checks.filter(({ state }) => state === wanted).length;
  const wrong = count("failed");
  if (isJson) write(JSON.stringify({ failed: wrong, checks }, null, 2));
  else if (wrong > 0) write(`culvert: ${wrong} of the checks failed`);
  else write(count("warning") > 0 ? "culvert: all is well, except the lines with !" : "culvert: all is well");
  process.exitCode = wrong > 0 ? 1 : 0;
}
