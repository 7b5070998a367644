import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { OFF_BY_DEFAULT, PART_VARIABLES, type Part } from "../parts.js";

/** The maximum that the package may add to the SDK in a browser, in bytes after gzip. README.md has the measured sizes. */
const MAX_BYTES = 4_500;
/** What a bundle without a part must save at least. The other parts are on the server, or a few bytes. */
const MIN_SAVED: Partial<Record<Part, number>> = { offlineQueue: 1_000, eventFilters: 600, scrubbing: 900 };
/** A part that is off may cost this much, for what it takes out of the SDK. */
const TOLERANCE = 30;

const dist = resolve(import.meta.dirname, "../dist");
const parts = Object.keys(PART_VARIABLES) as Part[];

/** Bundles a browser's code as `next build` does, with the variables of `withCulvert`, and returns its size in bytes after gzip. */
async function size(code: string, off: readonly Part[] = OFF_BY_DEFAULT): Promise<number> {
  const on = (part: Part) => JSON.stringify(off.includes(part) ? "off" : "on");
  const variables = parts.map((part) => [`process.env.${PART_VARIABLES[part]}`, on(part)]);
  const bundle = await rolldown({
    input: "entry",
    platform: "browser",
    logLevel: "silent",
    external: /^next|^react/,
    transform: {
      define: Object.fromEntries([
        ["process.env.NODE_ENV", '"production"'],
        ["__SENTRY_DEBUG__", "false"],
        ...variables,
      ]),
    },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "entry" ? join(dist, id) : null),
        load: (id) => (id === join(dist, "entry") ? code : null),
      },
    ],
  });
  const { output } = await bundle.generate({ minify: true });
  return gzipSync(output[0].code).length;
}

test("the package adds little to the SDK in a browser, and a part that is off is not in the bundle", async () => {
  const sdk = await size(
    'import * as S from "@sentry/nextjs"; S.init({ dsn: "" }); S.captureRouterTransitionStart("", "");',
  );
  const own = 'export * from "./browser.js";';
  const whole = await size(own);
  const saved = await Promise.all(
    parts.map(async (part) => [part, whole - (await size(own, [...OFF_BY_DEFAULT, part]))] as const),
  );
  const errors = (await size(`${own} export * from "./errors.js";`)) - whole;
  console.log(
    `in the browser, bytes after gzip: SDK ${sdk}, package ${whole - sdk}, error pages ${errors}, sendOutcomes ${(await size(own, [])) - whole};`,
    `saved without ${saved.map(([part, bytes]) => `${part} ${bytes}`).join(", ")}`,
  );
  expect(whole - sdk).toBeLessThan(MAX_BYTES);
  const large = saved.filter(([part, bytes]) => bytes < (MIN_SAVED[part] ?? -TOLERANCE));
  expect(large).toEqual([]);
});
