import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { OFF_BY_DEFAULT, PART_VARIABLES, type Part } from "../parts.js";

const dist = resolve(import.meta.dirname, "../dist");
const parts = Object.keys(PART_VARIABLES) as Part[];

/** Bundles a browser's code as `next build` does, with the variables of `withCulvert`, and returns its size in bytes after gzip. */
async function size(code: string, off: readonly Part[] = OFF_BY_DEFAULT): Promise<number> {
  const variables = parts.map((part) => [`process.env.${PART_VARIABLES[part]}`, off.includes(part) ? '"off"' : '"on"']);
  const entry = join(dist, "entry");
  const bundle = await rolldown({
    ...{ input: entry, platform: "browser", logLevel: "silent", external: /^next|^react/ },
    transform: {
      define: { "process.env.NODE_ENV": '"production"', __SENTRY_DEBUG__: "false", ...Object.fromEntries(variables) },
    },
    plugins: [
      { name: "entry", resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? code : null) },
    ],
  });
  const { output } = await bundle.generate({ minify: true });
  return gzipSync(output[0].code).length;
}

test("the package adds at most 4.5 kB to the SDK in a browser, and a part that is off is not in the bundle", async () => {
  const sdk = 'import * as S from "@sentry/nextjs"; S.init({ dsn: "" }); S.captureRouterTransitionStart("", "");';
  const own = 'export * from "./browser.js";';
  const whole = await size(own);
  expect(whole - (await size(sdk))).toBeLessThan(4_500);
  for (const [part, minSaved] of Object.entries({ offlineQueue: 1_000, eventFilters: 600, scrubbing: 900 }))
    expect(whole - (await size(own, [...OFF_BY_DEFAULT, part as Part])), part).toBeGreaterThan(minSaved);
});
