import type { Facts } from "../facts.ts";
import { failed, ok, type Result } from "../result.ts";

const CHECK = "settings";

/** What Compose and Docker themselves read. */
const foreign = /^(?:COMPOSE|DOCKER|BUILDKIT|BUILDX)_/;

/**
 * Finds settings that nothing reads: any such name in .env, and in the environment what differs from a setting by one typing
 * error, since an environment holds names of other programs too.
 */
export function settingNames({ environment, file, known }: Facts["names"]): Result[] {
  const read = new Set(known);
  const isUnknown = (name: string) => !read.has(name) && !foreign.test(name);
  const wrong = new Map<string, string>();
  for (const name of file.filter(isUnknown)) wrong.set(name, ".env");
  for (const name of environment.filter(isUnknown)) if (similar(name, known)) wrong.set(name, "the environment");
  if (wrong.size === 0) return [ok(CHECK, `every name is known (${file.length} in .env)`)];
  return [...wrong].map(([name, where]) => {
    const meant = similar(name, known);
    return failed(
      CHECK,
      `${name} in ${where} is no setting`,
      meant ? `did you mean ${meant}?` : "remove it, or see the list of settings",
    );
  });
}

/** Returns the name that differs from `name` by one typing error (two in a long name). */
function similar(name: string, known: string[]): string | undefined {
  if (name.length < 6) return undefined;
  const allowed = name.length < 10 ? 1 : 2;
  return known
    .map((one) => ({ one, errors: distance(name, one) }))
    .filter(({ errors }) => errors <= allowed)
    .sort((a, b) => a.errors - b.errors)[0]?.one;
}

/** Optimal string alignment: insertions, deletions, substitutions, and transpositions of two neighbours. */
export function distance(a: string, b: string): number {
  const rows: number[][] = [[...Array(b.length + 1).keys()]];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(i - 2, j - 2) + 1);
      row[j] = least;
    }
  }
  return at(a.length, b.length);
}
