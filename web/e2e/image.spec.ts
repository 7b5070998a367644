import { docker } from "../../deploy/test/support/docker.ts";
import { navigationHeaders, navigationPath } from "../../loadtest/lib/navigation.ts";
import { freshTrace, itemsIn } from "./envelopes.ts";
import { expect, test } from "./fixtures.ts";
import { createTestNetwork, hardened, type TestNetwork, waitUntilUp, webImage } from "./test-network.ts";

const DSN = "--env=SENTRY_DSN=http://culvert@recorder:9000/1";

let network: TestNetwork;
test.beforeEach(async () => {
  network = await createTestNetwork();
});
test.afterEach(() => network.close());

async function startWeb(...env: string[]): Promise<string> {
  const port = await network.run("web", [...hardened, ...env], webImage, 3000);
  await waitUntilUp(`http://127.0.0.1:${port}/healthz`);
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

test("with CONSOLE=off the console's routes respond with 404, and the health checks still with 200", async () => {
  const web = await startWeb("--env=CONSOLE=off");
  const statusOf = async (path: string, init?: RequestInit) =>
    (await fetch(`${web}${path}`, { redirect: "manual", ...init })).status;
  for (const path of [...CONSOLE, "/api/echo"]) {
    expect(await statusOf(path), path).toBe(404);
  }
  expect(await statusOf("/test-events/route-exception", { method: "POST" })).toBe(404);
  // The cookie that breaks the root layout has no effect either.
  expect(await statusOf("/", { headers: { cookie: "culvert-broken-layout=1" } })).toBe(404);
  expect(await statusOf("/healthz")).toBe(200);
  expect(await statusOf("/readyz")).toBe(200);
  expect(await (await fetch(`${web}/`)).text()).not.toContain("<nav");
});

test("nor do they run for a request that claims to be a navigation within the console", async () => {
  const recorder = await network.startRecorder(["recorder"]);
  const web = await startWeb("--env=CONSOLE=off", "--env=UPSTREAM_URL=http://recorder:9000/upstream", DSN);
  for (const page of CONSOLE) {
    const headers = navigationHeaders("/(console)/elsewhere");
    // Next redirects to the address with the hash of these headers.
    const { url } = await fetch(web + navigationPath(page, "0"), { headers });
    const flight = await (await fetch(url, { redirect: "manual", headers })).text();
    // Such a response starts with status 200 before the page runs; the content in place of the page says that there is none.
    expect(flight, page).toContain(':E{"digest":"NEXT_HTTP_ERROR_FALLBACK;404"}');
    expect(flight, page).not.toMatch(/"h1"|NEXT_REDIRECT|"digest":"\d/);
  }
  // On SIGTERM it sends all buffered events.
  await network.on("web", "stop", "-t", "15");
  const received = await recorder.all();
  expect(received.filter(({ url }) => url === "/upstream")).toEqual([]);
  expect(received.flatMap((request) => itemsIn(request, "event"))).toEqual([]);
});

test("it serves pages although the ingest cannot be reached", async () => {
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

test("SIGTERM: running requests finish, events captured last arrive, and the exit code is 0", async () => {
  const recorder = await network.startRecorder(["recorder"]);
  const web = await startWeb(DSN, "--env=UPSTREAM_URL=http://recorder:9000/slow");
  const ok = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };
  await recorder.answer({ ...ok, body: "{", rest: "}" });
  const slow = post(`${web}/test-events`, "Call the upstream");
  await recorder.waitFor(({ url }) => (url === "/slow" ? url : undefined));
  const trace = freshTrace();
  expect((await fetch(`${web}/test-events/server-exception`, { headers: trace.headers })).status).toBe(500);

  const stopped = network.on("web", "stop", "-t", "15");
  // After SIGTERM it accepts no new requests.
  const accepts = () =>
    fetch(`${web}/healthz`).then(
      () => true,
      () => false,
    );
  await expect.poll(accepts).toBe(false);
  await recorder.answer(ok);
  await recorder.proceed();
  await stopped;

  expect(await (await slow).text()).toContain("recorder:9000: it ");
  expect(await network.on("web", "inspect", "--format={{.State.ExitCode}}")).toBe("0");
  await recorder.waitFor((request) => {
    const body = Buffer.from(request.body, "base64").toString();
    return body.includes('"type":"event"') && body.includes(trace.id) ? request : undefined;
  });
});

/** The maximum size of the image, in MB. web/README.md has it, too. */
const MAX_MB = 400;

test("it stays small; its start time and memory are logged", async () => {
  const { output } = await docker("image", "inspect", "--format={{.Size}}", webImage);
  const size = Number(output) / 1e6;
  const started = performance.now();
  await startWeb(DSN);
  const start = performance.now() - started;
  const memory = await network.on("web", "stats", "--no-stream", "--format={{.MemUsage}}");
  console.log(
    `web: ${size.toFixed(0)} MB, responds ${start.toFixed(0)} ms after docker run, then uses ${memory.split(" /")[0]}`,
  );
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThan(MAX_MB);
});

test("its log contains only the start of Next and the app's own messages", async () => {
  await network.startRecorder(["recorder"]);
  const web = await startWeb(DSN);
  for (const path of ["/", "/test-events", "/trace", "/no-such-page"]) await fetch(`${web}${path}`);
  const lines = (await network.on("web", "logs")).split("\n");
  expect(
    lines.filter((line) => !/^\s*$|▲ Next\.js|- Local:|- Network:|✓ (?:Starting|Ready|Running)/.test(line)),
  ).toEqual([]);
});
