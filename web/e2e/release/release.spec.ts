import type { BrowserContext, Page } from "@playwright/test";
import { buildImage } from "../../../deploy/test/support/images.ts";
import { messageOf, received } from "../envelopes.ts";
import { expect, open, outcomeOf, test } from "../fixtures.ts";
import { app, must } from "../stack.ts";
import { webImage } from "../web-alone.ts";

const successor = `${webImage}-successor`;

/** Releases an image as `make up` does; without one, builds web/. */
const deploy = (image = "") => must("sh deploy/host/up.sh", { ...process.env, WEB_IMAGE: image });

/** The hashed files of an image: "/_next/static/chunks/….js". */
async function filesOf(image: string): Promise<string[]> {
  const files = await must(`docker run --rm --workdir=/app/.next ${image} find static -type f`);
  return files.split("\n").map((file) => `/_next/${file}`);
}

/** The release whose scripts this page runs. */
const releaseOf = (page: Page) =>
  page.evaluate(() =>
    new URL(document.querySelector<HTMLScriptElement>("script[src*='dpl=']")?.src ?? "").searchParams.get("dpl"),
  );

async function openTestEvents(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await open(page, `${app.origin}/test-events`);
  return page;
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
  const [reads, posts, postsRemoved] = [await load(), await load(), await load()];
  const before = await releaseOf(reads);
  expect(before).toMatch(/^[0-9a-f]{12}$/);

  await deploy(successor);

  await test.step("each of its files is served, even those not requested before", async () => {
    const responses = await Promise.all(old.map((file) => context.request.get(`${app.origin}${file}?dpl=${before}`)));
    expect(responses.filter((response) => response.status() !== 200).map((response) => response.url())).toEqual([]);
  });

  await test.step("navigation loads the new release", async () => {
    await reads.getByRole("link", { name: "Trace" }).first().click();
    await reads.waitForURL("**/trace");
    await expect.poll(() => releaseOf(reads).catch(() => before), { timeout: 180_000 }).not.toBe(before);
  });

  await test.step("an action that the new release still has works without a reload", async () => {
    await posts.getByRole("button", { name: "Call the upstream" }).click();
    await expect(outcomeOf(posts, "Call the upstream")).toContainText("received trace");
    expect(await releaseOf(posts)).toBe(before);
  });

  await test.step("an action that it no longer has loads the new page, and sends no error", async () => {
    await postsRemoved.getByRole("button", { name: "Take 1.5 seconds" }).click();
    await expect.poll(() => releaseOf(postsRemoved).catch(() => before)).not.toBe(before);
    await expect(postsRemoved.getByRole("button", { name: "Take 1.5 seconds" })).toBeVisible();
    await expect(postsRemoved.getByText("Application error")).toHaveCount(0);
    expect(await received("event", (event) => /Server Action/.test(messageOf(event)))).toEqual([]);
  });
});
