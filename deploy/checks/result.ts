/** One line of the output of doctor, verify-cluster and check-app. */
export interface Result {
  /** Names the check to programs, `check` to people. Several results may have one id. */
  id: string;
  check: string;
  /** `warning`: it will hurt, or only you can judge it. `skipped`: not checked, or it follows from another fault. */
  state: "ok" | "failed" | "warning" | "skipped";
  found: string;
  fix?: string;
  /** The ids of checks that explain this result if they failed. */
  follows?: string[];
}
type Extra = Pick<Partial<Result>, "id" | "follows">;

const as =
  (state: Result["state"]) =>
  (check: string, found: string, fix: string, extra?: Extra): Result => ({
    id: check.replaceAll(" ", "-"),
    check,
    state,
    found,
    fix: fix || undefined,
    ...extra,
  });
export const failed = as("failed");
export const warning = as("warning");
export const ok = (check: string, found: string, extra?: Extra) => as("ok")(check, found, "", extra);
export const skipped = (check: string, found: string, extra?: Extra) => as("skipped")(check, found, "", extra);

/** The result of a condition. */
export const rule = (check: string, isRight: boolean, found: string, wrong: string, fix: string, state = failed) =>
  isRight ? ok(check, found) : state(check, wrong, fix);

/** Runs a check and returns its results. An error becomes a warning. */
export const attempt = (check: string, run: () => Promise<Result[]>, extra?: Extra): Promise<Result[]> =>
  run().catch((error) => {
    const found = `could not be checked (${errorText(error)})`;
    return [warning(check, found, "docker compose logs --tail 20 proxy", extra)];
  });

/** Skips each result that follows from one that failed: it ends when its cause is mended. */
export function explain(results: Result[]): Result[] {
  const causes = results.filter(({ state }) => state === "failed");
  return results.map((result) => {
    const cause = causes.find(({ id }) => result.follows?.includes(id));
    if (!cause || !["failed", "warning"].includes(result.state)) return result;
    const found = `${result.found}: follows from the line on ${cause.check}`;
    return { ...result, state: "skipped", found, fix: undefined };
  });
}

/** The id of a service's container. */
export const container = (service: string) => `container:${service}`;
/** What a status follows from, if it only says that these services do not answer: 0 is no answer. */
export const unanswered = (status: number, ...services: string[]): Extra =>
  status === 0 || status >= 500 ? { follows: services.map(container) } : {};

/** Returns a system error's code, else its message. */
export function errorText(error: NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }): string {
  const cause = (error.errors?.[0] ?? error.cause) as NodeJS.ErrnoException | undefined;
  return String(error.code ?? cause?.code ?? error.message);
}

const symbol = { ok: "✓", failed: "✗", warning: "!", skipped: "-" };
const line = ({ check, state, found, fix }: Result) =>
  `${symbol[state]} ${check.padEnd(15)} ${found}${fix ? `: ${fix}` : ""}`.replace(/\s*\n/g, " ");
// A log may have an address with a password; a page, what controls a terminal.
const write = (text: string) =>
  console.log(text.replace(/(\w:\/\/)[^\s/@]+@/g, "$1•••@").replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, "\uFFFD"));
const isJson = process.argv.includes("--json");
const all = new Map<string, Result>();

/** Prints results, each line once. With --json, `finish` prints them. */
export function report(results: Result[]): void {
  for (const result of results) {
    if (!isJson && !all.has(line(result))) write(line(result));
    all.set(line(result), result);
  }
}

/** Prints the last line, or the document. Sets the exit status: 1 if a check failed. */
export function finish(): void {
  const checks = [...all.values()];
  const count = (wanted: Result["state"]) => checks.filter(({ state }) => state === wanted).length;
  const wrong = count("failed");
  if (isJson) write(JSON.stringify({ failed: wrong, checks }, null, 2));
  else if (wrong > 0) write(`culvert: ${wrong} of the checks failed`);
  else write(count("warning") > 0 ? "culvert: all is well, except the lines with !" : "culvert: all is well");
  process.exitCode = wrong > 0 ? 1 : 0;
}
