import { join } from "node:path";
import { type App, findSource, read } from "../app.js";
import type { Step } from "../change.js";
import { inStyleOf, insertImport } from "./code.js";

const PACKAGE = "@culvert/nextjs/config";

/** Puts `withCulvert` around what next.config exports, and takes `tunnelRoute` out, which would win over the tunnel of Culvert. */
export function nextConfig(app: App): Step[] {
  const file = findSource(app, app.path, "next.config");
  if (!file)
    return [{ file: join(app.path, app.typescript ? "next.config.ts" : "next.config.mjs"), after: newConfig(app) }];
  const before = read(app, file) ?? "";
  const byHand = (problem: string, fix: string): Step => ({ file, problem, fix });
  if (/\boutput:\s*["'`]export["'`]/.test(before))
    return [
      byHand('output: "export" makes files, and no server', "Culvert is for apps that a server renders; remove output"),
    ];
  const steps: Step[] = [];
  const wrapped = before.includes(PACKAGE) ? before : wrap(before, app.esm);
  const after = withoutTunnelRoute(wrapped ?? before);
  if (after !== before) steps.push({ file, before, after });
  if (wrapped === undefined)
    steps.push(
      byHand(
        "it has no `export default …` or `module.exports = …` at the beginning of a line",
        `import { withCulvert } from "${PACKAGE}", and export withCulvert(…) of what it exports now, with { sentry: false } as the second argument if that is withSentryConfig(…)`,
      ),
    );
  if (/^\s*tunnelRoute\b/m.test(after))
    steps.push(byHand("tunnelRoute wins over the tunnel of Culvert", "remove tunnelRoute"));
  return steps;
}

/** Returns the base path of next.config, if it is written out there. */
export const basePathOf = (app: App): string | undefined =>
  /\bbasePath:\s*["'`](\/[^"'`]*)["'`]/.exec(read(app, findSource(app, app.path, "next.config")) ?? "")?.[1];

const newConfig = ({ typescript }: App) =>
  typescript
    ? `import { withCulvert } from "${PACKAGE}";\nimport type { NextConfig } from "next";\n\nconst config: NextConfig = {};\n\nexport default withCulvert(config);\n`
    : `import { withCulvert } from "${PACKAGE}";\n\n/** @type {import('next').NextConfig} */\nconst config = {};\n\nexport default withCulvert(config);\n`;

/** Passes what the file exports through `withCulvert`, in a line at its end: what the app wrote stays as it is. Undefined if it has no such export. */
function wrap(text: string, esm: boolean): string | undefined {
  const options = text.includes("withSentryConfig(") ? ", { sentry: false }" : "";
  const end = (line: string) => `\n\n${inStyleOf(text, line)}\n`;
  if (!esm && /^module\.exports = /m.test(text)) {
    const line = inStyleOf(text, `const { withCulvert } = require("${PACKAGE}");\n`);
    return insertImport(text.trimEnd(), line) + end(`module.exports = withCulvert(module.exports${options});`);
  }
  const exported = /^export default (?:((?:async )?function) (\w+)|(\w+)(?=;?\s*$)|(?!class\b))/gm;
  const [found, ...others] = [...text.matchAll(exported)];
  if (!found || others.length > 0) return undefined;
  const [statement, keyword, named, variable] = found;
  const name =
    named ?? variable ?? ["config", "nextConfig", "appConfig"].find((word) => !RegExp(`\\b${word}\\b`).test(text));
  const before = text.slice(0, found.index);
  const after = text.slice(found.index + statement.length);
  const kept = keyword
    ? `${keyword} ${name}${after}`
    : variable
      ? after.replace(/^;?\n?/, "")
      : `const ${name} = ${after}`;
  const line = inStyleOf(text, `import { withCulvert } from "${PACKAGE}";\n`);
  return insertImport(`${before}${kept}`.trimEnd(), line) + end(`export default withCulvert(${name}${options});`);
}

/** Removes a tunnelRoute that is a line of its own, with the comment that Sentry's wizard puts above. */
const withoutTunnelRoute = (text: string) =>
  text.replace(
    /(?:^[ \t]*\/\/ Route browser requests to Sentry through a Next\.js rewrite.*\n(?:^[ \t]*\/\/.*\n)*)?^[ \t]*tunnelRoute: [^\n,]+,\n(?:[ \t]*\n)?/m,
    "",
  );
