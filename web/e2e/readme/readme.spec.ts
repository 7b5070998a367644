import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { root } from "../../../deploy/test/support/docker.ts";
import { expect, open, outcomeOf, test, traceOf } from "../fixtures.ts";
import { arrivedAt, must, otherStack } from "../stack.ts";

const stack = otherStack(40, { COMPOSE_FILE: "docker-compose.yml:web/e2e/readme/compose.yml" });
const origin = `https://localhost:${stack.HTTPS_PORT}`;
const commands = readFileSync(`${root}/README.md`, "utf8").match(/(?<=^ {4})docker compose [a-z]+ [a-z]+/gm) ?? [];
const run = (index: number) => must(commands[index] ?? "", stack);

// One worker, because both tests have this stack.
test.describe.configure({ mode: "default" });
test.beforeAll(() => must("sh deploy/host/up.sh", stack));
test.afterAll(() => must("docker compose --profile=* down --volumes --timeout=0", stack));

/** The local ingest has any free port, another one after each start. */
const ingest = async () =>
  `http://localhost:${(await must("docker compose port ingest 8969", stack)).split(":").at(-1)}`;

/** One event, or more if the SDK sends something late on a busy machine. */
const QUEUED = process.env.SCREENSHOTS === "yes" ? "1 event queued" : /^[1-9]\d* events? queued/;

async function takePictures(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS !== "yes") return;
  for (const [suffix, width] of [
    ["-mobile", 390],
    ["", 1080],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${root}/web/screenshots/${name}${suffix}.png`, fullPage: true });
  }
}

test("README's three commands: an event outlives an outage of the ingest and a restart of the spool", async ({
  page,
  allow,
}) => {
  allow.origin(origin);
  allow.consoleError(/Thrown on purpose/);
  expect(commands).toHaveLength(3);
  // The first page of a new process is slow, and the picture shows how long it took. Not sampled, so no event is sent for it.
  const unsampled = { "sentry-trace": `${"1".repeat(32)}-${"1".repeat(16)}-0` };
  await page.request.get(`${origin}/`, { headers: unsampled });
  await open(page, `${origin}/`);
  const state = page.getByRole("status", { name: "State of the path" });
  await expect(state).toContainText("Every hop responds");
  // The page load's transaction is the last one of its trace. Without this, it would be queued, too.
  await arrivedAt(await ingest(), '"op":"pageload"', `"trace_id":"${await traceOf(page)}"`);

  await run(0);
  await expect(state).toHaveText(/^2 hops fail.*The ingest accepts no envelopes now/);
  await expect(page.getByText("0 events queued")).toBeVisible();
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await expect(page.getByText(QUEUED)).toBeVisible();
  // The spool may count it before its answer is here.
  const outcome = outcomeOf(page, "Throw in the browser").filter({ hasText: /[0-9a-f]{32}/ });
  const [eventId = ""] = /[0-9a-f]{32}/.exec((await outcome.textContent()) ?? "") ?? [];
  await takePictures(page, "overview");

  await run(1);
  await run(2);
  await expect(page.getByText(/[1-9]\d* events? delivered since/)).toBeVisible();
  await expect(page.getByText("0 events queued")).toBeVisible();
  await expect(state).toContainText("Every hop responds");
  await arrivedAt(await ingest(), eventId);

  for (const name of process.env.SCREENSHOTS === "yes" ? ["test-events", "trace"] : []) {
    await open(page, `${origin}/${name}`);
    await takePictures(page, name);
  }
});

test("the local ingest's page shows its own events, whatever its port", async ({ page, allow }) => {
  const address = await ingest();
  allow.origin(address);
  const [id, value] = ["9ec79c33ec9942ab8353589fcb2e04dc", "Only at this ingest"];
  const event = { event_id: id, timestamp: Date.now() / 1_000, exception: { values: [{ type: "Error", value }] } };
  const data = [{ event_id: id, dsn: `${address}/1` }, { type: "event" }, event]
    .map((line) => JSON.stringify(line))
    .join("\n");
  await page.request.post(`${address}/api/1/envelope/`, { data });
  await page.goto(`${address}/telemetry/errors`);
  await expect(page.getByText(value)).toBeVisible();
});
