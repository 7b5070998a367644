import { mkdirSync, writeFileSync } from "node:fs";

/**
 * Text that compresses to a quarter, as pages and scripts do, and is the same in each run: words of a vocabulary, the first ones more often
 * (a linear congruential generator with the constants of Numerical Recipes).
 */
export function text(bytes: number): string {
  let state = 1;
  const random = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
  const vocabulary = Array.from({ length: 500 }, () => Math.floor(random() * 36 ** 6).toString(36));
  let words = "";
  while (words.length < bytes) words += `${vocabulary[Math.floor(500 * random() ** 3)]} `;
  return words.slice(0, bytes);
}

/** Writes the app's page of 20 kB and its file of 40 kB, which the sink serves. */
export function writeApp(folder: string): void {
  const chunks = `${folder}/_next/static/chunks`;
  mkdirSync(chunks, { recursive: true });
  writeFileSync(`${folder}/index.html`, `<!doctype html><title>Page</title><p>${text(20_000)}`);
  writeFileSync(`${chunks}/0123456789abcdef.js`, `/*${text(40_000)}*/`);
}
