/** Puts a line before the first import or require of a file, else at its beginning, with an empty line behind. */
export function insertImport(text: string, line: string): string {
  const first = /^(?:import\b|const .*= require\()/m.exec(text);
  return first ? text.slice(0, first.index) + line + text.slice(first.index) : `${line}\n${text}`;
}

/** Returns lines of code with the quotes and semicolons of a text. */
export function inStyleOf(text: string, code: string): string {
  const quoted = /(?:from |require\()'/.test(text) ? code.replaceAll('"', "'") : code;
  return /^import|= /m.test(text) && !/;$/m.test(text) ? quoted.replaceAll(/;$/gm, "") : quoted;
}
