import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readPlan } from "../suite/plan.ts";
import { preflight } from "../suite/preflight.ts";
import { documented, edit, metas } from "./faults.ts";
import { hasK6, runShim, settingsIn, start, startReader } from "./run-suite.ts";
import { type Answer, asExample, asHeader, type Fault, type Seen, startStub } from "./stub.ts";

let box: string;
beforeEach(() => {
  box = mkdtempSync(join(tmpdir(), "culvert-whole-"));
});
afterEach(() => rmSync(box, { recursive: true }));

async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return `${port}`;
}

async function whole(fault: Fault, { TARGET, ...env }: Record<string, string> = {}) {
  const INGEST = await freePort();
  const { response } = fault;
  const example = (answer: Answer, seen: Seen) => {
    asExample(answer, seen);
    response?.(answer, seen);
  };
  const BASE_URL = await startStub({ ...fault, response: example }, `http://127.0.0.1:${INGEST}`);
  writeFileSync(join(box, "target.env"), TARGET ?? "");
  const { PATH = "", HOME = "" } = process.env;
  const variables = {
    PATH: hasK6 ? PATH : `${import.meta.dirname}${delimiter}${PATH}`,
    HOME,
    OUT: join(box, "out"),
    BASE_URL,
    INGEST,
    DELIVERY_WAIT: "2s",
    COMPOSE_ENV_FILES: "/dev/null",
    ...(TARGET === undefined ? {} : { TARGET: "target.env" }),
    ...env,
  };
  const ended = await start("sh", [join(import.meta.dirname, "../run.sh")], { cwd: box, env: variables });
  return { ...ended, read: (file: string) => readFileSync(join(box, "out", file), "utf8") };
}

const few = (JOURNEYS: string, more = {}) => ({ JOURNEYS, BROWSER: "off", ...more });
const SOME = "TRACE=on\nROUTER=app\n\n# A comment.\nTUNNEL_PATH=/monitoring\nPAGES=/\n";

describe("the whole way", () => {
  it.each<[string, Fault, number, RegExp, Record<string, string>]>([
    ["no fault", {}, 0, /PASSED · smoke/, few("browse,envelopes")],
    ["a file that leaves something open", {}, 24, /NOT VERIFIED: .*actions/, few("browse,envelopes", { TARGET: SOME })],
    ["an invalid setting", {}, 108, /NOT RUN · smoke: RATE "fast" is not valid/, few("browse", { RATE: "fast" })],
  ])("%s", async (_, fault, status, words, env) => {
    const { code, output, read } = await whole(fault, env);
    expect(output).toMatch(words);
    expect(output).not.toMatch(/Request Failed|integrity: 0 broken of 0/);
    expect([code, JSON.parse(read("summary.json")).exit]).toEqual([status, status]);
  });

  it("proposes a TARGET file that has what is given", async () => {
    const given = { TUNNEL_PATH: "/monitoring", PAGES: "/products", ROUTER: "pages" };
    const { code, output, read } = await whole({}, { PROFILE: "preflight", ...given });
    expect([code, output]).toEqual([0, expect.stringContaining(`proposed: ${box}/out/target.env, for TARGET=`)]);
    expect(settingsIn(read("target.env"))).toMatchObject(given);
  });
});

const foreign = (more: (answer: Answer, seen: Seen) => unknown = () => {}, tunnel = "monitoring"): Fault => ({
  response: (answer, seen) => {
    const isOwn = new RegExp(`^/(\\?.*|_next.*|${tunnel}.*)?$`).test(seen.path);
    if (!isOwn) Object.assign(answer, { status: 404, body: "<html></html>", headers: { "content-type": "text/html" } });
    more(answer, seen);
  },
});
const pagesRouter = edit(/<script nonce[^>]*>.*?<\/script>/s, '<script type="text/json" id="__NEXT_DATA__"></script>');
const asState: Fault = {
  response: (answer, seen) => {
    asExample(answer, seen);
    const [, result = ""] = /<output>([^<]*<!-- -->[^<]*)/.exec(answer.body) ?? [];
    if (!result) return;
    const data = JSON.stringify([result.replace("<!-- -->", "")]);
    answer.body = answer.body
      .replace(result, "")
      .replace("</body>", `<script nonce="x">self.__next_f.push([2,${data}])</script></body>`);
  },
};
/** robots.txt keeps all out, and long pages are neither compressed nor say whether caches may store them. */
const warned: Fault = {
  ...foreign((answer, { path }) => {
    answer.body = answer.body.replace("<main>", `<main>${"long ".repeat(1000)}`);
    delete answer.headers["cache-control"];
    const body = "User-agent: x\nAllow: /\n\nUser-agent: *\nDisallow: /\n";
    if (path === "/robots.txt") Object.assign(answer, { status: 200, body });
  }),
  compressed: false,
};
const otherTunnel: Fault = {
  ...foreign((answer, { path }) => path.startsWith("/monitoring?") && Object.assign(answer, { status: 400 })),
  request: (seen) => (seen.path = seen.path.replace(/^\/tunnel/, "/monitoring")),
};
const basePath: Fault = {
  request: (seen) => (seen.path = seen.path.replace(/^\/shop\/?/, "/")),
  response: (answer, seen) => {
    asExample(answer, seen);
    answer.body = answer.body.replaceAll('"/_next', '"/shop/_next');
    if (answer.headers.location) answer.headers.location = `/shop${answer.headers.location}`;
  },
};
/** The example with pages that are the same for every visitor. */
const TWO = { PAGES: "/,/products" };
const stored = (more: (answer: Answer, seen: Seen) => unknown): Fault => ({
  response: (answer, seen) => {
    asExample(answer, seen);
    more(answer, seen);
    if (answer.status === 200) answer.headers["cache-control"] = "s-maxage=31536000";
  },
});
const withoutTrace = (answer: Answer, seen: Seen) => {
  asHeader(answer);
  if (seen.path === "/")
    answer.headers["server-timing"] = answer.headers["server-timing"]?.replace(/, sentry.*/, "") ?? "";
};
const newText = (answer: Answer, { count }: Seen) =>
  (answer.body = answer.body.replace("<h1>Page", `<h1>${count} Page`));
const REAL = "https://culvert@o1.ingest.sentry.io/7";

describe("a target without faults", () => {
  let reader: Awaited<ReturnType<typeof startReader>>;
  beforeAll(async () => {
    reader = await startReader();
    return reader.stop;
  });

  it.each<[string, Fault, Record<string, string>, RegExp]>([
    ["a foreign app with a tunnel", otherTunnel, { TUNNEL_PATH: "/tunnel" }, /^PASSED, but not verified: .*redirects/],
    ["an App Router without Sentry", foreign(metas, "_next"), {}, /^PASSED, but not verified: traces, .*tunnel/],
    ["an action's result as data", asState, { INGEST: "off" }, /^PASSED · .*result is shown with JavaScript only/s],
    ["reasons for warnings", warned, {}, /^PASSED, .*Disallow: \/ keeps.*no Cache-Control on.*are not compressed/s],
    [
      "a tunnel as Sentry documents it",
      foreign(documented.response),
      {},
      /^PASSED, but not verified: .*compressed envelopes/,
    ],
    ["a Pages Router", foreign(pagesRouter), {}, /^PASSED, but not verified: noindex/],
    ["a base path", basePath, { PAGES: "/shop" }, /^PASSED, but not verified: delivery · /],
    ["a real project", { response: asExample }, { SENTRY_DSN: REAL, SEND_EVENTS: "no" }, /^PASSED · /],
    ["a real project, silent", { response: asExample }, { SENTRY_DSN: REAL }, /^PASSED, but .*: accepted env/],
    ["traces in Server-Timing alone", stored(asHeader), {}, /^PASSED, but not verified: delivery · /],
    ["a page that a CDN may store has no trace", stored(withoutTrace), TWO, /^PASSED, but not verified: delivery · /],
    ["another text each time", foreign(newText), {}, /^PASSED, but not verified: .*texts of pages/],
  ])("%s", async (_, fault, env, words) => {
    const given = { BASE_URL: await startStub(fault), ...env };
    const file = await preflight(given);
    // Every line that is only proposed is valid, too.
    expect(() => readPlan("smoke", { ...given, ...settingsIn(file, true) })).not.toThrow();
    const settings = { BROWSER: "off", READER: reader.url, ...given, ...settingsIn(file) };
    const { output, summary } = await runShim("smoke", settings, 2);
    expect(output.trim()).toMatch(words);
    expect(summary).toMatchObject({ result: "passed", exit: 0, integrity: { broken: 0 } });
  });
});
