/** The lines that were printed: one fault, found by several checks, is one line. */
const printed = new Set<string>();
let failures = 0;

function print(state: string, line: string): void {
  if (printed.has(line)) return;
  printed.add(line);
  if (state === "FAILED") failures += 1;
  console.log(`${state.padEnd(8)} ${line}`);
}

export const ok = (line: string) => print("ok", line);
export const skipped = (line: string) => print("skipped", line);

/** Prints a fault: what, why, and what to do. Returns false, so that a check can end with it. */
export const failed = (line: string): false => {
  print("FAILED", line);
  return false;
};

/** The number of faults. */
export const faults = () => failures;
