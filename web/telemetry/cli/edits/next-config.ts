import { join } from "node:path";
import { type App, findSource, read } from "../app.js";
import type { Step } from "../change.js";
import { insertImport } from "./insert-import.js";

const PACKAGE = "@culvert/nextjs/config";

/** Puts `withCulvert` around what next.config exports, and takes `tunnelRoute` out, which would win over the tunnel of Culvert. */
export function nextConfig(app: App): Step[] {
  const file = findSource(app, app.path, "next.config");
  if (!file)
    return [{ file: join(app.path, app.typescript ? "next.config.ts" : "next.config.mjs"), after: newConfig(app) }];
  const before = read(app, file) ?? "";
  if (/\boutput:\s*["'`]export["'`]/.test(before))
    return [
      {
        file,
        problem: 'output: "export" makes files, and no server',
        fix: "Culvert is for apps that a server renders; remove output",
      },
    ];
  const steps: Step[] = [];
  const wrapped = before.includes(PACKAGE) ? before : wrap(before, app.esm);
  const after = withoutTunnelRoute(wrapped ?? before);
  if (after !== before) steps.push({ file, before, after });
  if (wrapped === undefined)
    steps.push({
      file,
      problem: "it does not end with `export default …` or `module.exports = …`",
      fix: `import { withCulvert } from "${PACKAGE}", and export withCulvert(…) of what it exports now, with { sentry: false } as the second argument if that is withSentryConfig(…)`,
    });
  if (/^\s*tunnelRoute\b/m.test(after))
    steps.push({ file, problem: "tunnelRoute wins over the tunnel of Culvert", fix: "remove tunnelRoute" });
  return steps;
}

/** Returns the base path of next.config, if it is written out there. */
export const basePathOf = (app: App): string | undefined =>
  /\bbasePath:\s*["'`](\/[^"'`]*)["'`]/.exec(read(app, findSource(app, app.path, "next.config")) ?? "")?.[1];

const newConfig = ({ typescript }: App) =>
  typescript
    ? `import { withCulvert } from "${PACKAGE}";\nimport type { NextConfig } from "next";\n\nconst config: NextConfig = {};\n\nexport default withCulvert(config);\n`
    : `import { withCulvert } from "${PACKAGE}";\n\n/** @type {import('next').NextConfig} */\nconst config = {};\n\nexport default withCulvert(config);\n`;

/** Wraps the last statement if it is an export that lasts to the end of the file; undefined if it is not. */
function wrap(text: string, esm: boolean): string | undefined {
  const [, start = "", keyword = "", value = ""] =
    /^([\s\S]*^)(export default |module\.exports = )([\s\S]+)$/m.exec(text.trimEnd()) ?? [];
  // A line that does not begin with a blank or a closing bracket begins another statement.
  if (
    !keyword ||
    value
      .split("\n")
      .slice(1)
      .some((line) => /^[^\s})\]]/.test(line))
  )
    return undefined;
  if (/^(?:async )?function\b|^class\b/.test(value)) return undefined;
  const isModule = keyword.startsWith("export");
  const line =
    isModule || esm
      ? `import { withCulvert } from "${PACKAGE}";\n`
      : `const { withCulvert } = require("${PACKAGE}");\n`;
  const options = value.includes("withSentryConfig(") ? ", { sentry: false }" : "";
  return `${insertImport(start, line)}${keyword}withCulvert(${value.replace(/;$/, "")}${options});\n`;
}

/** Removes a tunnelRoute that is a line of its own, with the comment that Sentry's wizard puts above. */
const withoutTunnelRoute = (text: string) =>
  text.replace(
    /(?:^[ \t]*\/\/ Route browser requests to Sentry through a Next\.js rewrite.*\n(?:^[ \t]*\/\/.*\n)*)?^[ \t]*tunnelRoute: ["'`\w/-]+,\n(?:[ \t]*\n)?/m,
    "",
  );
