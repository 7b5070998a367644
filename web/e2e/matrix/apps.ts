import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { buildImage } from "../../../deploy/test/support/images.ts";
import { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { wizard, DSN as wizardDsn, writeFixture } from "../../telemetry/cli/fixtures/apps.ts";
import { open } from "../fixtures.ts";
import { must, otherStack } from "../stack.ts";

/** The DSN in the code of the apps. compose.yml has its host. */
export const DSN = wizardDsn.replace(/^https(.*)\//, "http$1:9000/");

/** An app that does not know Culvert, in a stack of its own. */
export interface App {
  /** The address of its pages. */
  base: string;
  origin: string;
  ingest: Recorder;
  /** Runs a command line with the settings of this stack. */
  type(command: string): Promise<string>;
}

/** Builds an app with the Dockerfile that users copy, with `files` and what Sentry's wizard adds, and starts it as WEB_IMAGE. */
export async function startApp(
  name: string,
  offset: number,
  files: Record<string, string>,
  path = ".",
  base = "",
): Promise<App> {
  const repository = mkdtempSync(join(tmpdir(), "culvert-matrix-"));
  cpSync(join(import.meta.dirname, name), repository, { recursive: true });
  writeFixture({ files: { ...wizard("js", DSN), ...files }, path: "." }, join(repository, path));
  const stack = otherStack(offset, {
    COMPOSE_FILE: "docker-compose.yml:deploy/test/support/recorder/compose.yml:web/e2e/matrix/compose.yml",
    BASE_PATH: base,
    SENTRY_DSN: DSN,
  });
  stack.WEB_IMAGE = `${stack.COMPOSE_PROJECT_NAME}-app`;
  await buildImage(repository, { tag: stack.WEB_IMAGE, dockerfile: "deploy/app/Dockerfile", args: { APP: path } });
  await must("docker compose up --build --wait proxy recorder", stack);
  const origin = `https://localhost:${stack.HTTPS_PORT}`;
  const ingest = new Recorder(`http://127.0.0.1:${stack.RECORDER_PORT}`);
  return { base: origin + base, origin, ingest, type: (command) => must(command, stack) };
}

/** Opens a page with a counter and waits until it counts, which shows that React runs. */
export async function openRunning(page: Page, url: string): Promise<void> {
  await open(page, url);
  await page.getByRole("button", { name: "Clicked 0 times" }).click();
  await expect(page.getByRole("button", { name: "Clicked 1 times" })).toBeVisible();
}

/** Reloads a page until it was rendered again. */
export async function expectRevalidated(page: Page): Promise<void> {
  const made = await page.locator("#made").textContent();
  await expect(async () => {
    await page.reload();
    expect(await page.locator("#made").textContent()).not.toBe(made);
  }).toPass({ timeout: 180_000 });
}

/** Follows a link, and expects no page load. */
export async function follow(page: Page, link: string, heading: RegExp | string): Promise<void> {
  await page.evaluate(() => Object.assign(window, { isSame: true }));
  await page.getByRole("link", { name: link }).click();
  await expect(page.getByRole("heading", { name: heading })).toBeVisible();
  expect(await page.evaluate(() => "isSame" in window)).toBe(true);
}
