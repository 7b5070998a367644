import { appRouter, esmConfig } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, test } from "../fixtures.ts";
import { type App, expectRevalidated, follow, openRunning, startApp, testAnyApp } from "./apps.ts";

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
import { cacheLife } from "next/cache";
import Image from "next/image";
import Link from "next/link";
import Script from "next/script";
import photo from "./photo.png";

export default async function Page() {
  "use cache";
  cacheLife({ stale: 30, revalidate: 1, expire: 3600 });
  return (
    <main style={{ color: "rgb(1, 2, 3)" }}>
      <p id="made">{Date.now()}</p>
      <Counter />
      <Link href="/ppr">To the page in parts</Link>
      <Image src={photo} alt="Waves" priority />
      <Script id="inline">{"document.documentElement.dataset.inline = 'ran'"}</Script>
    </main>
  );
}
`,
  "app/ppr/page.jsx": `import Counter from "counter";
import { cookies, headers } from "next/headers";
import { Suspense } from "react";

async function Hole() {
  const [jar, sent] = [await cookies(), await headers()];
  return <p id="hole">{jar.size} cookies, policy {sent.get("content-security-policy") ?? "none"}</p>;
}

export default function Page() {
  return <main><h1>In parts</h1><Counter /><Suspense fallback={<p>Soon</p>}><Hole /></Suspense></main>;
}
`,
  "app/api/redirect/route.js": `import { NextResponse } from "next/server";

export const GET = (request) => NextResponse.redirect(new URL("/shop/ppr", request.url));
`,
  // Two events, with a silence between them that is longer than Nginx' default timeouts.
  "app/api/events/route.js": `export function GET(request) {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue("data: before\\n\\n");
      const timer = setTimeout(() => controller.enqueue("data: after\\n\\n"), 65_000);
      request.signal.addEventListener("abort", () => clearTimeout(timer));
    },
  }).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
}
`,
};

let app: App;
let events: Promise<unknown>;
test.beforeAll(async ({ browser }) => {
  test.setTimeout(1_800_000);
  app = await startApp("app-router", 80, shop, "shop", "/shop");
  const page = await browser.newPage({ ignoreHTTPSErrors: true });
  await page.goto(`${app.base}/ppr`);
  events = page
    .evaluate(
      () =>
        new Promise((resolve) => {
          const data: string[] = [];
          const source = new EventSource("/shop/api/events");
          source.onmessage = (event) => data.push(event.data) === 2 && resolve(data);
          source.onerror = () => resolve("lost");
        }),
    )
    .catch(String);
});

test("a prerendered page works with inline style and script, is revalidated, and its links navigate", async ({
  page,
}) => {
  await openRunning(page, app.base);
  const colour = page.locator("main").evaluate((element) => getComputedStyle(element).color);
  expect(await colour).toBe("rgb(1, 2, 3)");
  await expect(page.locator("html")).toHaveAttribute("data-inline", "ran");
  await expectRevalidated(page);
  await follow(page, "To the page in parts", "In parts");
});

test("a partially prerendered page works, with 20 kB of cookies, and gets no policy that it did not ask for", async ({
  page,
}) => {
  const cookie = (_: unknown, n: number) => ({ name: `c${n}`, value: "x".repeat(1_000), url: app.origin });
  await page.context().addCookies(Array.from({ length: 20 }, cookie));
  await openRunning(page, `${app.base}/ppr`);
  await expect(page.locator("#hole")).toHaveText("20 cookies, policy none");
});

test("a PNG is served as WebP, and a route handler redirects to the public origin", async ({ page }) => {
  const photo = page.waitForResponse(/\/shop\/_next\/image\?/);
  await page.goto(app.base);
  expect([(await photo).status(), (await photo).headers()["content-type"]]).toEqual([200, "image/webp"]);
  await page.goto(`${app.base}/api/redirect`);
  expect(page.url()).toBe(`${app.base}/ppr`);
});

testAnyApp(() => app, "span");

test("an event stream goes on after 65 s of silence", async () => {
  expect(await events).toEqual(["before", "after"]);
});
