import { docker } from "../../../deploy/test/support/docker.ts";
import { navigation } from "../../../loadtest/lib/navigation.ts";
import { freshTrace, reportsIn } from "../envelopes.ts";
import { expect, test } from "../fixtures.ts";
import { answering, hardened, type Lab, openLab, webImage } from "../test-network.ts";

const DSN = "--env=SENTRY_DSN=http://culvert@recorder:9000/1";

let lab: Lab;
test.beforeEach(async () => {
  lab = await openLab();
});
test.afterEach(() => lab.close());

async function startWeb(...env: string[]): Promise<string> {
  const port = await lab.run("web", [...hardened, ...env], webImage, 3000);
  await answering(`http://127.0.0.1:${port}/healthz`);
  return `http://127.0.0.1:${port}`;
}

const CONSOLE = [
  "/",
  "/test-events",
  "/test-events/server-exception",
  "/test-events/both-sides",
  "/test-events/in-suspense",
  "/test-events/redirect",
  "/trace",
];

test("with CONSOLE=off the console's routes answer 404, and the probes still 200", async () => {
  const web = await startWeb("--env=CONSOLE=off");
  const statusOf = async (path: string, init?: RequestInit) =>
    (await fetch(`${web}${path}`, { redirect: "manual", ...init })).status;
  for (const path of [...CONSOLE, "/api/echo"]) {
    expect(await statusOf(path), path).toBe(404);
  }
  expect(await statusOf("/test-events/route-exception", { method: "POST" })).toBe(404);
  // The test event that breaks the root layout is dead as well.
  expect(await statusOf("/", { headers: { cookie: "culvert-broken-layout=1" } })).toBe(404);
  expect(await statusOf("/healthz")).toBe(200);
  expect(await statusOf("/readyz")).toBe(200);
  expect(await (await fetch(`${web}/`)).text()).not.toContain("<nav");
});

test("nor do they run for a request that says it came by a navigation within the console", async () => {
  const recorder = await lab.record(["recorder"]);
  const web = await startWeb("--env=CONSOLE=off", "--env=UPSTREAM_URL=http://recorder:9000/upstream", DSN);
  for (const page of CONSOLE) {
    const { path, headers } = await navigation("/(console)/elsewhere", page);
    const flight = await (await fetch(`${web}${path}`, { redirect: "manual", headers })).text();
    // Such an answer begins before the page is asked, with status 200: what stands in the page's place says that there is none.
    expect(flight, page).toContain(':E{"digest":"NEXT_HTTP_ERROR_FALLBACK;404"}');
    expect(flight, page).not.toMatch(/"h1"|NEXT_REDIRECT|"digest":"\d/);
  }
  // Told to stop, it sends all that it has.
  await lab.on("web", "stop", "-t", "15");
  const received = await recorder.all();
  expect(received.filter(({ url }) => url === "/upstream")).toEqual([]);
  expect(received.flatMap((request) => reportsIn(request, "event"))).toEqual([]);
});

test("it can serve although the ingest can't be reached", async () => {
  const web = await startWeb("--env=SENTRY_DSN=http://culvert@nowhere.invalid/1");
  expect((await fetch(`${web}/readyz`)).status).toBe(200);
  expect((await fetch(web)).status).toBe(200);
});

/** Posts the form with this button as a browser without JavaScript does. */
async function post(page: string, button: string): Promise<Response> {
  const html = await (await fetch(page)).text();
  const form = html.match(/<form[\s\S]*?<\/form>/g)?.find((text) => text.includes(button)) ?? "";
  const body = new FormData();
  for (const [, name = "", , value = ""] of form.matchAll(/<input type="hidden" name="([^"]*)"( value="([^"]*)")?/g)) {
    body.set(name, value.replaceAll("&quot;", '"'));
  }
  return fetch(page, { method: "POST", body, headers: { origin: new URL(page).origin } });
}

test("SIGTERM: what runs is finished, what was captured in the last moment arrives, and the exit code is 0", async () => {
  const recorder = await lab.record(["recorder"]);
  const web = await startWeb(DSN, "--env=UPSTREAM_URL=http://recorder:9000/slow");
  const well = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };
  await recorder.answer({ ...well, body: "{", rest: "}" });
  const slow = post(`${web}/test-events`, "Call the upstream");
  await recorder.waitFor(({ url }) => (url === "/slow" ? url : undefined));
  const trace = freshTrace();
  expect((await fetch(`${web}/test-events/server-exception`, { headers: trace.headers })).status).toBe(500);

  const stopped = lab.on("web", "stop", "-t", "15");
  // Told to stop, it takes no new requests.
  const takes = () =>
    fetch(`${web}/healthz`).then(
      () => true,
      () => false,
    );
  await expect.poll(takes).toBe(false);
  await recorder.answer(well);
  await recorder.proceed();
  await stopped;

  expect(await (await slow).text()).toContain("recorder:9000: it ");
  expect(await lab.on("web", "inspect", "--format={{.State.ExitCode}}")).toBe("0");
  await recorder.waitFor((request) => {
    const body = Buffer.from(request.body, "base64").toString();
    return body.includes('"type":"event"') && body.includes(trace.id) ? request : undefined;
  });
});

/** The most that the image may weigh, in MB. README.md has what it does. */
const MOST_MB = 400;

test("it stays small; how fast it starts and what memory it then has is told", async () => {
  const { output } = await docker("image", "inspect", "--format={{.Size}}", webImage);
  const size = Number(output) / 1e6;
  const begin = performance.now();
  await startWeb(DSN);
  const start = performance.now() - begin;
  const memory = await lab.on("web", "stats", "--no-stream", "--format={{.MemUsage}}");
  console.log(
    `web: ${size.toFixed(0)} MB, answers ${start.toFixed(0)} ms after docker run, then has ${memory.split(" /")[0]}`,
  );
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThan(MOST_MB);
});

test("its log has nothing but Next's start and what the app says itself", async () => {
  await lab.record(["recorder"]);
  const web = await startWeb(DSN);
  for (const path of ["/", "/test-events", "/trace", "/no-such-page"]) await fetch(`${web}${path}`);
  const lines = (await lab.on("web", "logs")).split("\n");
  expect(
    lines.filter((line) => !/^\s*$|▲ Next\.js|- Local:|- Network:|✓ (?:Starting|Ready|Running)/.test(line)),
  ).toEqual([]);
});
