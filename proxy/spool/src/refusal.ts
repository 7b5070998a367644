/** What stops the spool, as one line: the setting or the place, the problem, the fix. */
export class Refusal extends Error {
  constructor(name: string, problem: string, fix: string) {
    super(`${name} ${problem}: ${fix}`.replaceAll(/\s+/g, " "));
  }
}
