/** What stops the spool, as one line: the setting or the place, the problem, the fix. */
export class StartupError extends Error {
  constructor(name: string, problem: string, fix: string) {
    super(`${name} ${oneLine(problem)}: ${fix}`);
  }
}

/** As it may stand in a log, whatever a value holds. */
const oneLine = (text: string) =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[^ -~]/g, "?")
    .slice(0, 300);
