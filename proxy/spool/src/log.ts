const quiet = 60_000;
const said = new Map<string, number>();

/** Says one line to the operator. */
export function log(line: string): void {
  console.error(`culvert spool: ${line}`);
}

/** Says a line that may be true a thousand times a second: once a minute for each `about`. */
export function logOncePerMinute(about: string, line: string): void {
  const now = performance.now();
  if (now - (said.get(about) ?? -quiet) < quiet) return;
  said.set(about, now);
  log(line);
}
