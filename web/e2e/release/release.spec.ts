import type { Page } from "@playwright/test";
import { buildImage } from "../../../deploy/test/support/images.ts";
import { messageOf, received } from "../envelopes.ts";
import { expect, openTestEvents, outcomeOf, test } from "../fixtures.ts";
import { app, must } from "../stack.ts";

const webImage = `${process.env.COMPOSE_PROJECT_NAME}-web`;
const successor = `${webImage}-successor`;

const deploy = (image = "") => must("sh deploy/host/up.sh", { ...process.env, WEB_IMAGE: image, SKEW_KEEP: "30m" });

async function filesOf(image: string): Promise<string[]> {
  const files = await must(`docker run --rm --workdir=/app/.next ${image} find static -type f`);
  return files.split("\n").map((file) => `/_next/${file}`);
}

const releaseOf = (page: Page) =>
  page.evaluate(() =>
    new URL(document.querySelector<HTMLScriptElement>("script[src*='dpl=']")?.src ?? "").searchParams.get("dpl"),
  );

async function withoutReload(page: Page, act: () => Promise<void>): Promise<void> {
  await page.evaluate(() => Object.assign(window, { isSame: true }));
  await act();
  expect(await page.evaluate(() => "isSame" in window)).toBe(true);
}

async function use(page: Page): Promise<void> {
  await withoutReload(page, async () => {
    await page.getByRole("button", { name: "Call the upstream" }).click();
    await expect(outcomeOf(page, "Call the upstream")).toContainText("received trace");
    await page.getByRole("button", { name: "Take 1.5 seconds" }).click();
    await expect(outcomeOf(page, "Take 1.5 seconds")).not.toBeEmpty();
    await page.getByRole("link", { name: "Trace" }).first().click();
    await page.waitForURL("**/trace");
    await page.goBack();
    await page.waitForURL("**/test-events");
  });
}

test("a page of the old release keeps working after a new release", async ({ context, allow }) => {
  // Next logs a missing action on the browser's console.
  for (const text of [/Failed to fetch RSC payload/, /status of 409/, /UnrecognizedActionError/])
    allow.consoleError(text);
  await deploy();
  await buildImage("web/e2e/successor", { tag: successor, args: { IMAGE: webImage } });
  const old = await filesOf(webImage);
  expect(old.length, old.join("\n")).toBeGreaterThan(10);
  expect(await filesOf(successor)).not.toEqual(old);
  const load = () => openTestEvents(context);
  const [first, reads, posts] = [await load(), await load(), await load()];
  const before = await releaseOf(reads);
  expect(before).toMatch(/^[0-9a-f]{12}$/);

  await deploy(successor);
  const second = await load();

  await test.step("while the old release is kept, its pages work without a reload, and a document is of the new one", async () => {
    for (const page of [first, second]) await use(page);
    expect([await releaseOf(first), await releaseOf(second)]).toEqual([before, expect.not.stringMatching(`${before}`)]);
  });

  await must("docker compose --profile previous rm --force --stop web-previous");

  await test.step("each of its files is served, even those not requested before", async () => {
    const responses = await Promise.all(old.map((file) => context.request.get(`${app.origin}${file}?dpl=${before}`)));
    expect(responses.filter((response) => response.status() !== 200).map((response) => response.url())).toEqual([]);
  });

  await test.step("navigation loads the new release", async () => {
    await reads.getByRole("link", { name: "Trace" }).first().click();
    await reads.waitForURL("**/trace");
    await expect.poll(() => releaseOf(reads).catch(() => before)).not.toBe(before);
  });

  await test.step("an action that the new release still has works without a reload", async () => {
    await posts.getByRole("button", { name: "Call the upstream" }).click();
    await expect(outcomeOf(posts, "Call the upstream")).toContainText("received trace");
    expect(await releaseOf(posts)).toBe(before);
  });

  await test.step("an action that it no longer has loads the new page, and sends no error", async () => {
    await first.getByRole("button", { name: "Take 1.5 seconds" }).click();
    await expect.poll(() => releaseOf(first).catch(() => before)).not.toBe(before);
    await expect(first.getByRole("button", { name: "Take 1.5 seconds" })).toBeVisible();
    await expect(first.getByText("Application error")).toHaveCount(0);
    expect(await received("event", (event) => /Server Action/.test(messageOf(event)))).toEqual([]);
  });
});
