import { appRouter, esmConfig } from "../../telemetry/cli/fixtures/apps.ts";
import { test } from "../fixtures.ts";
import { type App, openRunning, startApp, testAnyApp } from "./apps.ts";

// Next 16, SDK 11, a pnpm monorepo, with what create-next-app and Sentry's wizard choose, and a base path.
const shop = {
  ...appRouter("/shop"),
  "next.config.mjs": esmConfig(`{
  output: "standalone",
  basePath: "/shop",
  cacheComponents: true,
  partialPrefetching: true,
  experimental: { turbopackFileSystemCacheForBuild: false },
  transpilePackages: ["counter"],
}`),
  "app/page.jsx": `import Counter from "counter";

export default function Page() {
  return <Counter />;
}
`,
};

let app: App;
test.beforeAll(async () => {
  app = await startApp("app-router", 80, shop, "shop", "/shop");
});

test("a page with a package of the monorepo works, with 20 kB of cookies", async ({ page }) => {
  const cookie = (_: unknown, n: number) => ({ name: `c${n}`, value: "x".repeat(1_000), url: app.origin });
  await page.context().addCookies(Array.from({ length: 20 }, cookie));
  await openRunning(page, app.base);
});

testAnyApp(() => app, "span");
