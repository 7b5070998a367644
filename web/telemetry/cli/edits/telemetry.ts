import { join } from "node:path";
import { type App, findSource, read } from "../app.js";
import type { Step } from "../change.js";
import { HAS_TUNNEL, wrapOptions } from "./sentry-init.js";

/** One side of the app: the file that Next loads, those with a Sentry.init of the app's own, and the lines that connect it without one. */
const sides = {
  server: {
    entry: "instrumentation",
    inits: ["instrumentation", "sentry.server.config", "sentry.edge.config"],
    lines: 'export { onRequestError, register } from "@culvert/nextjs/server";\n',
  },
  browser: {
    entry: "instrumentation-client",
    inits: ["instrumentation-client", "sentry.client.config"],
    lines: 'export * from "@culvert/nextjs/browser";\n',
  },
} as const;

/** Connects the server or the browser: through the app's own Sentry.init if there is one, else with a file of a single line. */
export function telemetry(app: App, side: keyof typeof sides): Step[] {
  const { entry, inits, lines } = sides[side];
  const file = findSource(app, app.sources, entry);
  const text = read(app, file) ?? "";
  const initFiles = inits
    .flatMap((name) => findSource(app, app.sources, name) ?? findSource(app, app.path, name) ?? [])
    .filter((found) => /\binit\(/.test(read(app, found) ?? ""));
  if (initFiles.length > 0) return initFiles.flatMap((found) => wrap(app, found));
  if (text.includes(`@culvert/nextjs/${side}`)) return [];
  if (!file) return [{ file: join(app.sources, `${entry}.${app.typescript ? "ts" : "js"}`), after: lines }];
  if (side === "browser" && !text.includes("onRouterTransitionStart"))
    return [{ file, before: text, after: `${lines}\n${text}` }];
  const fix =
    side === "server"
      ? "call register of @culvert/nextjs/server in yours, and export its onRequestError"
      : `import "@culvert/nextjs/browser"`;
  return [{ file, problem: "it does something else already", fix }];
}

function wrap(app: App, file: string): Step[] {
  const before = read(app, file) ?? "";
  if (before.includes("culvertOptions(")) return [];
  const after = wrapOptions(before);
  if (after) return [{ file, before, after }];
  if (HAS_TUNNEL.test(before))
    return [{ file, problem: "its `tunnel` would win over that of Culvert", fix: "remove tunnel, and run init again" }];
  const fix =
    'Sentry.init({ dsn, ...culvertOptions({ … }) }), with all other options but `tunnel` inside, and culvertOptions of "@culvert/nextjs"';
  return [{ file, problem: "its Sentry.init is not a single one with plain options", fix }];
}
