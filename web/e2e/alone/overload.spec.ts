import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { expect, open, outcomeOf, test } from "../fixtures.ts";
import { app, must } from "../stack.ts";

const OPEN_PAGES = 2;
const busy = { level: 1, name: "Too busy right now" } as const;
const trace = { level: 1, name: "The trace of this page view" } as const;

/** Replaces the proxy by one with this limit. */
const startProxy = (limit: string) =>
  must("docker compose up -d --wait --no-deps proxy", { ...process.env, MAX_CONCURRENT_PAGES_PER_REPLICA: limit });

const sessions = new Set<ClientHttp2Session>();

/** Opens a page and does not read it, until `release`; anew when the proxy gives up. */
async function occupy(): Promise<void> {
  // No window: the proxy may send headers, but no byte of the body.
  const session = connect(app.origin, { rejectUnauthorized: false, settings: { initialWindowSize: 0 } });
  sessions.add(session);
  session.on("error", () => undefined);
  const stream = session.request({ ":path": "/", accept: "text/html" });
  stream.on("error", () => undefined);
  const [headers] = await once(stream, "response");
  stream.on("close", () => sessions.delete(session) && void occupy());
  expect(headers[":status"]).toBe(200);
}

function release(): void {
  const all = [...sessions];
  sessions.clear();
  for (const session of all) session.destroy();
}

test.beforeAll(() => startProxy(String(OPEN_PAGES)));
test.afterEach(release);
test.afterAll(() => startProxy(""));

test("a page that is too many says so and reloads by itself; forms of open pages go through", async ({
  context,
  allow,
}) => {
  for (const text of [/status of 503/, /Failed to fetch RSC payload/]) allow.consoleError(text);
  const [reader, writer, late] = [await context.newPage(), await context.newPage(), await context.newPage()];
  for (const page of [reader, writer]) await open(page, "/test-events");
  for (let n = 0; n < OPEN_PAGES; n++) await occupy();

  const response = await late.goto("/trace");
  expect(response?.status()).toBe(503);
  expect(response?.headers()["retry-after"]).toMatch(/^([4-9]|10)$/);
  await expect(late.getByRole("heading", busy)).toBeVisible();

  await reader.getByRole("link", { name: "Trace", exact: true }).click();
  await expect(reader.getByRole("heading", busy)).toBeVisible();
  expect(new URL(reader.url()).pathname).toBe("/trace");

  await writer.getByRole("button", { name: "Call the upstream" }).click();
  await expect(outcomeOf(writer, "Call the upstream")).toContainText("received trace");

  release();
  for (const page of [reader, late]) await expect(page.getByRole("heading", trace)).toBeVisible();
});
