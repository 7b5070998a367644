/** Stops the spool with one line: the setting or folder, the problem, the fix. */
export class StartupError extends Error {
  constructor(name: string, problem: string, fix: string) {
    super(`${name} ${oneLine(problem)}: ${fix}`);
  }
}

/** One printable line of limited length, whatever a value contains. */
const oneLine = (text: string) =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[^ -~]/g, "?")
    .slice(0, 300);
