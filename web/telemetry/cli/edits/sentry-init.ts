import { inStyleOf, insertImport } from "./code.js";

/** `Sentry.init({ … })` that begins a line and ends on it, or on the next line with the same indent. */
const INIT = /^([ \t]*)((?:\w+\.)?init\()\{(?:([^\n]*)\}\)|(\n[\s\S]*?^)\1\}\))/m;
/** `dsn` with a value that has no commas: a string or a variable. */
const DSN = /\bdsn:\s*([^\n,{}()]+?)\s*(?:,|(?=\n|$))/;

const PLAIN = /tunnel:[ \t]*(?:"[^"\n]*"|'[^'\n]*'|`[^`$\n]*`|[\w.]+)[ \t]*/.source;
/** `tunnel` with a plain value: its line and a comment behind it, or its place among others in a line. */
const TUNNEL = RegExp(`^[ \\t]*${PLAIN},?[ \\t]*(?://.*)?\\n|(?:^|,)[ \\t]*${PLAIN}(?=,|$)`, "m");
/** Any other `tunnel`. */
export const HAS_TUNNEL = /(?:^|,)\s*tunnel\s*(?:[:,]|$)/m;

/**
 * Passes the options of the app's own `Sentry.init` through `culvertOptions`. Its `dsn` stays outside, so that it is what counts where no
 * SENTRY_DSN is set. Its `tunnel` goes, which would win over that of Culvert. Returns undefined for a file that is not of this shape.
 */
export function wrapOptions(text: string): string | undefined {
  const [all = "", indent = "", call = "", line, lines] = INIT.exec(text) ?? [];
  if (!all || text.match(/\binit\(/g)?.length !== 1) return undefined;
  const options = (line ?? lines ?? "").replace(TUNNEL, "").replace(/^[ \t]*,/, "");
  if (HAS_TUNNEL.test(options)) return undefined;
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
