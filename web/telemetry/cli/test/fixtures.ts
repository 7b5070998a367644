import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

type Files = Record<string, string>;

/** A Next app as a team has it before `init`. */
export interface Fixture {
  files: Files;
  /** The app's folder. */
  path: string;
  /** The page with the button that throws in the browser, after an API has thrown in the server. */
  page: string;
}

export const DSN = "https://3a1b2c3d4e5f60718293a4b5c6d7e8f9@o4509632503087104.ingest.de.sentry.io/4509632503218256";

const versions = { next: "16.4.5", react: "19.3.1", "react-dom": "19.3.1" };
const typescript = { "@types/node": "24.19.2", "@types/react": "19.3.0", typescript: "6.0.3" };

const manifest = (sentry: string | undefined, more: object = {}) => ({
  name: "shop",
  private: true,
  scripts: { build: "next build" },
  dependencies: { ...versions, ...(sentry && { "@sentry/nextjs": sentry }) },
  // Of those that the SDK brings, newer ones may be incomplete in a registry.
  overrides: { rollup: "4.65.0" },
  ...more,
});
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const lockfile = json({ lockfileVersion: 3, packages: {} });

/** The page and the API of Sentry's wizard, without words. */
const examplePage = (base: string) => `"use client";
import * as Sentry from "@sentry/nextjs";

export default function Page() {
  const fail = async () => {
    await Sentry.startSpan({ name: "Example Frontend/Backend Span", op: "test" }, () => fetch("${base}/api/sentry-example-api"));
    throw new Error("This error is raised on the frontend of the example page.");
  };
  return <button type="button" onClick={fail}>Throw Sample Error</button>;
}
`;
const THROWS = 'throw new Error("This error is raised on the backend called by the example page.");';

/** The pages of an app with the App Router in `folder`. */
const appRouter = (folder: string, extension: "ts" | "js", base = ""): Files => ({
  [`${folder}app/layout.${extension}x`]: `export default function Layout({ children }${extension === "ts" ? ": { children: React.ReactNode }" : ""}) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
  [`${folder}app/page.${extension}x`]: `export const dynamic = "force-dynamic";\n\nexport default function Page() {\n  return <h1>Shop</h1>;\n}\n`,
  [`${folder}app/sentry-example-page/page.${extension}x`]: examplePage(base),
  [`${folder}app/api/sentry-example-api/route.${extension}`]: `export const dynamic = "force-dynamic";\n\nexport function GET() {\n  ${THROWS}\n}\n`,
});

const pagesRouter = (extension: "ts" | "js"): Files => ({
  [`pages/index.${extension}x`]: `export const getServerSideProps = () => ({ props: {} });\n\nexport default function Page() {\n  return <h1>Shop</h1>;\n}\n`,
  [`pages/sentry-example-page.${extension}x`]: `${examplePage("").replace('"use client";\n', "")}\nexport const getServerSideProps = () => ({ props: {} });\n`,
  [`pages/api/sentry-example-api.${extension}`]: `export default function handler() {\n  ${THROWS}\n}\n`,
});

const init = (more = "") => `import * as Sentry from "@sentry/nextjs";

Sentry.init({
  dsn: "${DSN}",

  // Define how likely traces are sampled. Adjust this value in production, or use tracesSampler for greater control.
  tracesSampleRate: 1,
${more}});
`;

/** What `npx @sentry/wizard -i nextjs` writes. */
const wizard = (extension: "ts" | "js"): Files => ({
  [`sentry.server.config.${extension}`]: init(),
  [`sentry.edge.config.${extension}`]: init(),
  [`instrumentation-client.${extension}`]: `${init("\n  integrations: [Sentry.replayIntegration()],\n  replaysOnErrorSampleRate: 1.0,\n")}
export const onRouterTransitionStart = Sentry.captureRouterTransitionStart;
`,
  [`instrumentation.${extension}`]: `import * as Sentry from "@sentry/nextjs";

export async function register() {
  if (process.env.NEXT_RUNTIME === "nodejs") {
    await import("./sentry.server.config");
  }

  if (process.env.NEXT_RUNTIME === "edge") {
    await import("./sentry.edge.config");
  }
}

export const onRequestError = Sentry.captureRequestError;
`,
});
const wizardConfig = (before: string, after: string, options = "") => `${before}

/** @type {import('next').NextConfig} */
const nextConfig = { ${options} };

${after} withSentryConfig(nextConfig, {
  org: "example",
  project: "shop",

  // Only print logs for uploading source maps in CI
  silent: !process.env.CI,

  // Route browser requests to Sentry through a Next.js rewrite to circumvent ad-blockers.
  // This can increase your server load as well as your hosting bill.
  // Note: Check that the configured route will not match with your Next.js middleware, otherwise reporting of client-
  // side errors will fail.
  tunnelRoute: "/monitoring",

  webpack: {
    automaticVercelMonitors: true,
  },
});
`;
const esmConfig = (options?: string) =>
  wizardConfig('import { withSentryConfig } from "@sentry/nextjs/config";', "export default", options);

const tsconfig = json({
  compilerOptions: {
    target: "ES2022",
    lib: ["dom", "esnext"],
    strict: true,
    noEmit: true,
    module: "esnext",
    moduleResolution: "bundler",
    isolatedModules: true,
    jsx: "react-jsx",
    esModuleInterop: true,
    skipLibCheck: true,
    resolveJsonModule: true,
    incremental: true,
    plugins: [{ name: "next" }],
  },
  include: ["next-env.d.ts", "**/*.ts", "**/*.tsx", ".next/types/**/*.ts"],
  exclude: ["node_modules"],
});

const below = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));
const fixture = (files: Files, path = ".", base = ""): Fixture => ({
  files,
  path,
  page: `${base}/sentry-example-page`,
});

export const fixtures = {
  /** create-next-app and Sentry's wizard, SDK 11. */
  "wizard-app": fixture({
    "package.json": json(manifest("11.0.0", { devDependencies: typescript })),
    "package-lock.json": lockfile,
    "tsconfig.json": tsconfig,
    "next.config.ts": esmConfig(),
    ".gitignore": "/node_modules\n/.next/\n.env*\n",
    ...appRouter("", "ts"),
    ...wizard("ts"),
  }),
  /** The same with the Pages Router, SDK 10 and a next.config of CommonJS. */
  "wizard-pages": fixture({
    "package.json": json(manifest("10.78.0")),
    "package-lock.json": lockfile,
    "next.config.js": wizardConfig('const { withSentryConfig } = require("@sentry/nextjs");', "module.exports ="),
    ...pagesRouter("js"),
    ...wizard("js"),
  }),
  /** Sentry set up by hand, sources in src, a Dockerfile and a compose file of its own. */
  "hand-made": fixture({
    "package.json": json(manifest("10.78.0", { type: "module", devDependencies: typescript })),
    "package-lock.json": lockfile,
    "tsconfig.json": tsconfig,
    "next.config.ts": `import type { NextConfig } from "next";\n\nexport default {\n  poweredByHeader: false,\n} satisfies NextConfig;\n`,
    "src/instrumentation.ts": `import * as Sentry from "@sentry/nextjs";

export function register() {
  if (process.env.NEXT_RUNTIME === "nodejs") {
    Sentry.init({ dsn: process.env.SENTRY_DSN, tracesSampleRate: 1 });
  }
}

export const onRequestError = Sentry.captureRequestError;
`,
    "src/instrumentation-client.ts": `import { init, captureRouterTransitionStart } from "@sentry/nextjs";

init({ dsn: process.env.NEXT_PUBLIC_SENTRY_DSN, tracesSampleRate: 1 });

export const onRouterTransitionStart = captureRouterTransitionStart;
`,
    Dockerfile: "FROM node:24\n",
    "docker-compose.yml": "services: { database: { image: postgres } }\n",
    ".env": "DATABASE_URL=postgres://localhost/shop\n",
    ...appRouter("src/", "ts"),
  }),
  /** JavaScript, without Sentry in its code. */
  javascript: fixture({
    "package.json": json(manifest("11.0.0")),
    "package-lock.json": lockfile,
    "next.config.mjs":
      "/** @type {import('next').NextConfig} */\nconst nextConfig = {\n  /* config options here */\n};\n\nexport default nextConfig;\n",
    ...appRouter("", "js"),
  }),
  "monorepo-npm": fixture(
    {
      "package.json": json({ name: "root", private: true, workspaces: ["apps/*"], overrides: { rollup: "4.65.0" } }),
      "package-lock.json": lockfile,
      ...below("apps/shop", {
        "package.json": json(manifest("10.78.0")),
        "next.config.mjs": esmConfig(),
        ...appRouter("", "js"),
        ...wizard("js"),
      }),
    },
    "apps/shop",
  ),
  "monorepo-pnpm": fixture(
    {
      "package.json": json({ name: "root", private: true, packageManager: "pnpm@10.34.8" }),
      "pnpm-workspace.yaml": "packages: [apps/*]\noverrides: { rollup: 4.65.0 }\n",
      "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
      ...below("apps/shop", {
        "package.json": json(manifest("11.0.0")),
        "next.config.mjs": esmConfig(),
        ...appRouter("", "js"),
        ...wizard("js"),
      }),
    },
    "apps/shop",
  ),
  "base-path": fixture(
    {
      "package.json": json(manifest("10.78.0")),
      "package-lock.json": lockfile,
      "next.config.mjs": esmConfig('basePath: "/shop"'),
      ...appRouter("", "js", "/shop"),
      ...wizard("js"),
    },
    ".",
    "/shop",
  ),
} satisfies Record<string, Fixture>;

/** Writes a fixture into a folder and returns the app's folder in it. */
export function writeFixture({ files, path }: Fixture, folder: string): string {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return join(folder, path);
}
