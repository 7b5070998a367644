import { esmConfig, pagesRouter } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, test } from "../fixtures.ts";
import { type App, openRunning, startApp, testAnyApp } from "./apps.ts";

// Next 15 and SDK 10, locked by yarn, with `i18n`, `trailingSlash` and a middleware that rewrites most paths.
const shop = {
  ...pagesRouter("js"),
  // Next's standalone output needs a node_modules. No dependency needs an install script, so none may run.
  ".yarnrc.yml": "nodeLinker: node-modules\nenableScripts: false\nenableTelemetry: false\n",
  "next.config.mjs": esmConfig(
    '{ output: "standalone", trailingSlash: true, i18n: { locales: ["en", "de"], defaultLocale: "en" } }',
  ),
  // Redirects one path, and rewrites all others, the health route too, as multi-tenant apps do.
  "middleware.js": `import { NextResponse } from "next/server";

export function middleware(request) {
  const url = request.nextUrl.clone();
  if (/^\\/(_next|api|sentry-example-page)\\//.test(url.pathname)) return NextResponse.next();
  if (url.pathname === "/old/") return NextResponse.redirect(new URL("/ssr/", request.url));
  url.pathname = \`/site\${url.pathname}\`;
  return NextResponse.rewrite(url);
}
`,
  "pages/_error.jsx": `const Failed = ({ status }) => <h1>Failed with {status}</h1>;
Failed.getInitialProps = ({ res, err }) => ({ status: res?.statusCode ?? err?.statusCode ?? 0 });
export default Failed;
`,
  "pages/site/broken.jsx": `export const getServerSideProps = () => {
  throw new Error("broken on purpose");
};
export default () => null;
`,
  "pages/site/index.jsx": `import Link from "next/link";
import Counter from "../../counter/counter";

export const getStaticProps = ({ locale }) => ({ props: { locale, made: Date.now() }, revalidate: 1 });

export default function Home({ locale, made }) {
  return (
    <main>
      <h1>{locale === "de" ? "Hallo" : "Hello"}</h1>
      <p id="made">{made}</p>
      <Counter />
      <Link href="/ssr">To the other page</Link>
      <style jsx>{"p { color: rgb(4, 5, 6); }"}</style>
    </main>
  );
}
`,
  "pages/site/ssr.jsx": `import Counter from "../../counter/counter";

export const getServerSideProps = ({ req, locale }) => ({ props: { host: req.headers["x-forwarded-host"], locale } });

export default function Rendered({ host, locale }) {
  return <main><h1>{\`Rendered for \${host} in \${locale}\`}</h1><Counter /></main>;
}
`,
};

let app: App;
test.beforeAll(async () => {
  app = await startApp("pages-router", 100, shop);
});

test("a prerendered page works, with its styles, in each language, and is revalidated", async ({ page }) => {
  await openRunning(page, `${app.base}/de/`);
  await expect(page.getByRole("heading", { name: "Hallo" })).toBeVisible();
  expect(await page.locator("#made").evaluate((element) => getComputedStyle(element).color)).toBe("rgb(4, 5, 6)");
  const made = () => page.locator("#made").textContent();
  const before = await made();
  await expect(async () => {
    await page.reload();
    expect(await made()).not.toBe(before);
  }).toPass();
});

test("a link navigates by a data request to a server-rendered page, which knows the public host", async ({ page }) => {
  await openRunning(page, `${app.base}/`);
  const data = page.waitForResponse(/\/_next\/data\/[^/]+\/en\/ssr\.json/);
  await page.getByRole("link", { name: "To the other page" }).click();
  await expect(page.getByRole("heading")).toHaveText(`Rendered for ${new URL(app.origin).host} in en`);
  expect((await data).status()).toBe(200);
});

test("Next's redirect to a slash, and that of a middleware, stay on the public origin", async ({ page }) => {
  await page.goto(`${app.base}/old`);
  expect(page.url()).toBe(`${app.base}/ssr/`);
  await openRunning(page, page.url());
});

for (const [path, status] of [
  ["broken", 500],
  ["nowhere", 404],
] as const)
  test(`a page with status ${status} is the app's own error page`, async ({ page }) => {
    expect((await page.goto(`${app.base}/${path}/`))?.status()).toBe(status);
    await expect(page.getByRole("heading", { name: `Failed with ${status}` })).toBeVisible();
  });

testAnyApp(() => app, "transaction");
