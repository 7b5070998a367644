import type { Browser, Page } from "@playwright/test";
import { expect } from "../fixtures.ts";
import { lineAt } from "../stack.ts";

declare global {
  /** The SDK of a page (`withKinds`). */
  var sentry: {
    getCurrentScope(): { getPropagationContext(): { traceId: string; parentSpanId?: string; sampled?: boolean } };
    getActiveSpan(): object | undefined;
    flush(): Promise<boolean>;
  };
}

const title = (name: string) => `export default function Page() {\n  return <h1>${name}</h1>;\n}\n`;
const hole = `import { connection } from "next/server";
import { Suspense } from "react";

async function Hole() {
  await connection();
  return <p>Per request</p>;
}

export default function Page() {
  return <Suspense fallback={<p>Soon</p>}><Hole /></Suspense>;
}
`;
const appPages = {
  "app/kinds/static/page.jsx": title("static"),
  "app/kinds/isr/page.jsx": `export const revalidate = 1;\n\n${title("isr")}`,
  "app/kinds/request/page.jsx": `export const dynamic = "force-dynamic";\n\n${title("request")}`,
};
const pagesPages = {
  "pages/old/static.jsx": title("static"),
  "pages/old/isr.jsx": `export const getStaticProps = () => ({ props: {}, revalidate: 1 });\n\n${title("isr")}`,
  "pages/old/request.jsx": `export const getServerSideProps = () => ({ props: {} });\n\n${title("request")}`,
};
/** With `cacheComponents`, as create-next-app sets it. */
const cachePages = {
  "app/page.jsx": title("Shop"),
  "app/api/redirect/route.js": 'export const GET = ({ url }) => Response.redirect(new URL("/kinds/static", url));\n',
  "app/kinds/static/page.jsx": title("static"),
  "app/kinds/cached/page.jsx": `import { cacheLife } from "next/cache";

export default async function Page() {
  "use cache";
  cacheLife({ stale: 30, revalidate: 1, expire: 3600 });
  return <h1>{Date.now()}</h1>;
}
`,
  "app/kinds/hole/page.jsx": hole,
};
const flush = `import * as Sentry from "@sentry/nextjs";

export default async function handler(request, response) {
  response.json(await Sentry.flush());
}
`;

type Files = Record<string, string>;

/** Adds pages of each kind to an app, half of whose traces are sampled with the query `half`. */
export function withKinds(files: Files, routers: { app?: boolean; pages?: boolean; cacheComponents?: boolean }): Files {
  const sampled = Object.entries(files).map(([path, text]) => {
    if (!/sentry\.server\.config|instrumentation-client/.test(path)) return [path, text];
    const isHalf = path.includes("client") ? "location.search" : 'String(attributes?.["http.target"])';
    const sampler = `tracesSampler: ({ attributes, inheritOrSampleWith }) => inheritOrSampleWith(${isHalf}.includes("half") ? 0.5 : 1),`;
    const more = path.includes("client") ? "\nObject.assign(globalThis, { sentry: Sentry });\n" : "";
    return [path, text.replace("tracesSampleRate: 1,", sampler) + more];
  });
  return {
    ...Object.fromEntries(sampled),
    ...(routers.cacheComponents ? cachePages : routers.app && appPages),
    ...(routers.pages && pagesPages),
    "pages/api/flush.js": flush,
  };
}

export const kindsIn = (files: Files): string[] =>
  Object.keys(files).flatMap((path) => /(?<=^app)\/kinds\/\w+|(?<=^pages)\/old\/\w+/.exec(path) ?? []);

interface Root {
  trace: string;
  id: string;
  parent?: string;
  op?: string;
}
type Span = Record<"trace_id" | "span_id" | "parent_span_id" | "op", string> & { is_segment?: boolean };
type Payload = { contexts?: { trace: Span }; items?: (Span & { attributes: Record<string, { value: string }> })[] };

function rootsIn(line: string): Root[] {
  if (!line.startsWith("data: [")) return [];
  const [, items] = JSON.parse(line.slice(6)) as [object, [{ type: string }, Payload][]];
  return items.flatMap(([{ type }, { contexts, items = [] }]) => {
    const segments = items.filter(({ is_segment }) => is_segment);
    const spans = segments.map((span) => ({ ...span, op: span.attributes["sentry.op"]?.value }));
    return [...(type === "transaction" && contexts ? [contexts.trace] : []), ...spans].map((span) => ({
      trace: span.trace_id,
      id: span.span_id,
      parent: span.parent_span_id,
      op: span.op,
    }));
  });
}

/** The trace of the browser's SDK, and what the headers say. */
export const continued = (page: Page) =>
  page.evaluate(() => {
    const { traceId, parentSpanId, sampled } = sentry.getCurrentScope().getPropagationContext();
    const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    const timing = navigation?.serverTiming.find(({ name }) => name === "sentry-trace")?.description;
    return { trace: traceId, parent: parentSpanId, sampled, timing, span: timing?.split("-")[1] };
  });

async function visit(tab: Page, urls: string[]) {
  const visits: (Awaited<ReturnType<typeof continued>> & { url: string })[] = [];
  for (const url of urls) {
    await tab.goto(url);
    await tab.waitForFunction(() => globalThis.sentry);
    visits.push({ url, ...(await continued(tab)) });
    await tab.waitForFunction(() => !sentry.getActiveSpan());
    await tab.evaluate(() => sentry.flush());
  }
  return visits;
}

/** Opens each page, and a stored one 12 times with half of the traces sampled. */
export async function expectOneTracePerPageLoad(browser: Browser, address: string, ingest: string, paths: string[]) {
  expect(paths.length).toBeGreaterThan(2);
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  // Next stores an ISR page with the trace that the SDK wrote into it, which is that of another request.
  const stored = paths.find((path) => /isr|cached/.test(path));
  const halves = Array.from({ length: 12 }, (_, number) => `${stored}?half=${number}`);
  const urls = [...paths, ...halves].map((path) => address + path);
  // Not a tab for each page: to open one costs seconds on a busy machine.
  const tabs = await Promise.all([0, 1, 2, 3].map(() => context.newPage()));
  const urlsOf = (tab: number) => urls.filter((_, index) => index % tabs.length === tab);
  const visits = (await Promise.all(tabs.map((tab, number) => visit(tab, urlsOf(number))))).flat();
  expect(visits.map(({ timing }) => timing)).toEqual(
    visits.map(({ trace, span, sampled }) => `${trace}-${span}-${Number(sampled)}`),
  );
  // Where Sentry's SDK writes the trace into the page, that wins: a span below the request's.
  const written = visits.filter(({ parent, span, url }) => parent !== span && !url.endsWith("/request"));
  expect(written).toEqual([]);
  // What the server has not sent by then, it never sends.
  expect(await (await context.request.get(`${address}/api/flush`)).json()).toBe(true);
  const sampled = visits.filter(({ sampled }) => sampled);
  const roots: Root[] = [];
  const both = (trace: string) =>
    ["pageload", "http.server"].map((op) => roots.find((root) => root.trace === trace && root.op === op));
  // What is missing after a while is in the comparison below.
  await lineAt(ingest, (line) => {
    roots.push(...rootsIn(line));
    return sampled.every(({ trace }) => both(trace).every(Boolean));
  }).catch(() => "");
  const seen = visits.map(({ trace, sampled, span, url }) => {
    const [load, request] = both(trace);
    // Next 15 sends the headers of such a page from a span below the request's.
    const isBelow = request && url.endsWith("/request");
    return [url, sampled, load?.parent, isBelow ? span : request?.id];
  });
  expect(seen).toEqual(
    visits.map(({ parent, span, sampled, url }) => [
      url,
      sampled,
      ...(sampled ? [parent, span] : [undefined, undefined]),
    ]),
  );
  expect(new Set(visits.map(({ trace }) => trace)).size).toBe(urls.length);
  const half = sampled.filter(({ url }) => url.includes("half")).length;
  expect(sampled.length - half).toBe(paths.length);
  expect([half > 0, half < halves.length]).toEqual([true, true]);
}
