const intervalMs = 60_000;
const lastLogged = new Map<string, number>();

/** Writes one line for the operator. */
export function log(line: string): void {
  console.error(`culvert spool: ${line}`);
}

/** Writes a line that may apply a thousand times a second: at most once a minute for each `key`. */
export function logOncePerMinute(key: string, line: string): void {
  const now = performance.now();
  if (now - (lastLogged.get(key) ?? -intervalMs) < intervalMs) return;
  lastLogged.set(key, now);
  log(line);
}
