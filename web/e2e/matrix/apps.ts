import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { buildImage } from "../../../deploy/test/support/images.ts";
import { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { wizard, DSN as wizardDsn, writeFixture } from "../../telemetry/cli/fixtures/apps.ts";
import { isFromBrowser, itemsIn } from "../envelopes.ts";
import { expect, open, test } from "../fixtures.ts";
import { must, otherStack } from "../stack.ts";

/** The DSN in the code of the apps. compose.yml has its host. */
const DSN = wizardDsn.replace(/^https(.*)\//, "http$1:9000/");

/** Counts only after hydration. */
const COUNTER = `"use client";
import { useState } from "react";

export default function Counter() {
  const [clicks, setClicks] = useState(0);
  return <button type="button" onClick={() => setClicks(clicks + 1)}>Clicked {clicks} times</button>;
}
`;

/** An app that does not know Culvert, in a stack of its own. */
export type App = Awaited<ReturnType<typeof startApp>>;

/**
 * Builds an app with the Dockerfile that users copy, and starts it as WEB_IMAGE. The app has the lockfiles in folder
 * `name`, `files`, a counter, and what Sentry's wizard adds.
 */
export async function startApp(name: string, offset: number, files: Record<string, string>, path = ".", base = "") {
  const repository = mkdtempSync(join(tmpdir(), "culvert-matrix-"));
  cpSync(join(import.meta.dirname, name), repository, { recursive: true });
  writeFixture({ files: { "counter/counter.jsx": COUNTER }, path: "." }, repository);
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
  return { base: origin + base, origin, ingest, type: (command: string) => must(command, stack) };
}

/** Opens a page with the counter and waits until it counts, which shows that React runs. */
export async function openRunning(page: Page, url: string): Promise<void> {
  await open(page, url);
  await page.getByRole("button", { name: "Clicked 0 times" }).click();
  await expect(page.getByRole("button", { name: "Clicked 1 times" })).toBeVisible();
}

/** Reloads a page until it was rendered again. */
export async function expectRevalidated(page: Page): Promise<void> {
  const made = () => page.locator("#made").textContent();
  const before = await made();
  await expect(async () => {
    await page.reload();
    expect(await made()).not.toBe(before);
  }).toPass();
}

/** Follows a link, and expects no page load. */
export async function follow(page: Page, link: string, heading: RegExp | string): Promise<void> {
  await page.evaluate(() => Object.assign(window, { isSame: true }));
  await page.getByRole("link", { name: link }).click();
  await expect(page.getByRole("heading", { name: heading })).toBeVisible();
  expect(await page.evaluate(() => "isSame" in window)).toBe(true);
}

/** What holds for any app. `traces` is the type of its SDK's items for traces. To call after the app's own tests. */
export function testAnyApp(get: () => App, traces: "transaction" | "span"): void {
  // 404: the apps have no icon.
  test.beforeEach(({ allow }) => {
    allow.origin(get().origin);
    allow.consoleError(/raised on the frontend|status of (?:500|404)/);
  });
  test.afterAll(() => get()?.type("docker compose down --volumes --timeout 0"));

  test("events of both sides arrive with one trace, as Sentry's wizard sets it up; health checks do not", async ({
    page,
  }) => {
    const { base, ingest } = get();
    const arrived = (type: string, browser: boolean, text = "") =>
      ingest.waitFor((request) =>
        itemsIn(request, type).find(
          (received) => isFromBrowser(received) === browser && JSON.stringify(received.item).includes(text),
        ),
      );
    await open(page, `${base}/sentry-example-page`);
    await page.getByRole("button", { name: "Throw Sample Error" }).click();
    const { envelope, item } = await arrived("event", true, "raised on the frontend");
    expect(envelope.header.dsn).toBe(DSN);
    await arrived("event", false, "raised on the backend");
    await arrived("replay_recording", true);
    for (const browser of [true, false]) await arrived(traces, browser, item.payload.contexts.trace.trace_id);
    const all = (await ingest.all()).flatMap((request) => itemsIn(request, traces));
    expect(all.filter((received) => JSON.stringify(received.item).includes("healthz"))).toEqual([]);
  });

  test("deploy/app/Dockerfile builds what the contract asks for", async () => {
    const { checks }: { checks: { check: string; state: string }[] } = JSON.parse(
      await get().type("env COMPOSE_FILE=docker-compose.yml sh deploy/checks/host/check-app.sh --json"),
    );
    const ok = checks.filter(({ state }) => state === "ok").map(({ check }) => check);
    const wanted = ["health", "page", "user", "files", "stop", "next", "build", "static files", "base path"];
    expect(ok).toEqual(expect.arrayContaining([...wanted, "deploymentId"]));
  });

  test("Next can write its files", async () => {
    expect(await get().type("docker compose logs web")).not.toMatch(/EROFS|ENOENT|EACCES|ENOSPC/);
  });
}
