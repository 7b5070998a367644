import { inStyleOf, insertImport } from "./code.js";

/** `Sentry.init({ … })` that begins a line and ends on it, or on the next line with the same indent. */
const INIT = /^([ \t]*)((?:\w+\.)?init\()\{(?:([^\n]*)\}\)|(\n[\s\S]*?^)\1\}\))/m;
/** `dsn` with a value that has no commas: a string or a variable. */
const DSN = /\bdsn:\s*([^\n,{}()]+?)\s*(?:,|(?=\n|$))/;

/**
 * Passes the options of the app's own `Sentry.init` through `culvertOptions`. Its `dsn` stays outside, so that it is what counts where no
 * SENTRY_DSN is set. Returns undefined for a file that is not of this shape.
 */
export function wrapOptions(text: string): string | undefined {
  const [all = "", indent = "", call = "", line, lines] = INIT.exec(text) ?? [];
  if (!all || text.match(/\binit\(/g)?.length !== 1) return undefined;
  const options = line ?? lines ?? "";
  if (/(?:^|,)\s*tunnel\s*:/m.test(options)) return undefined;
  const dsn = DSN.exec(options)?.[1];
  if (!dsn && /(?:^|,)\s*dsn\b/m.test(options)) return undefined;
  const init = `${indent}${call}${dsn ? withDefault(dsn, options.replace(DSN, ""), indent) : `culvertOptions({${options}${lines ? indent : ""}})`})`;
  return insertImport(
    text.replace(all, () => init),
    inStyleOf(text, 'import { culvertOptions } from "@culvert/nextjs";\n'),
  );
}

function withDefault(dsn: string, rest: string, indent: string): string {
  if (!rest.includes("\n")) return `{ dsn: ${dsn}, ...culvertOptions({ ${rest.trim()} }) }`;
  const step = /^[ \t]+(?=\S)/m.exec(rest)?.[0].slice(indent.length) || "  ";
  const inner = rest.trim()
    ? `\n${rest
        .replace(/^\s*\n/, "")
        .trimEnd()
        .replace(/^(?=.)/gm, step)}\n${indent}${step}`
    : "";
  return `{\n${indent}${step}dsn: ${dsn},\n${indent}${step}...culvertOptions({${inner}}),\n${indent}}`;
}
