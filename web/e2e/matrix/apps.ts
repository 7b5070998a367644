import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { buildImage } from "../../../deploy/test/support/images.ts";
import { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { wizard, DSN as wizardDsn, writeFixture } from "../../telemetry/cli/fixtures/apps.ts";
import { arrived, isFromBrowser, itemsIn, type ReceivedItem, says } from "../envelopes.ts";
import { expect, open, test } from "../fixtures.ts";
import { must, otherStack } from "../stack.ts";

/** The DSN in the code of the apps. compose.yml has its host. */
const DSN = wizardDsn.replace(/^https(.*)\//, "http$1:9000/");

const COUNTER = `"use client";
import { useState } from "react";

export default function Counter() {
  const [clicks, setClicks] = useState(0);
  return <button type="button" onClick={() => setClicks(clicks + 1)}>Clicked {clicks} times</button>;
}
`;

export type App = Awaited<ReturnType<typeof startApp>>;

/** Builds an app with the Dockerfile that users copy, what Sentry's wizard adds and the lockfiles in folder `name`; starts it. */
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

export async function openRunning(page: Page, url: string): Promise<void> {
  await open(page, url);
  await page.getByRole("button", { name: "Clicked 0 times" }).click();
  await expect(page.getByRole("button", { name: "Clicked 1 times" })).toBeVisible();
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
    const from = (isOwn: boolean, text: string) => (received: ReceivedItem) =>
      isFromBrowser(received) === isOwn && says(text)(received);
    await open(page, `${base}/sentry-example-page`);
    await page.getByRole("button", { name: "Throw Sample Error" }).click();
    const { envelope, item } = await arrived("event", from(true, "raised on the frontend"), 0, ingest);
    expect(envelope.header.dsn).toBe(DSN);
    await arrived("event", from(false, "raised on the backend"), 0, ingest);
    await arrived("replay_recording", isFromBrowser, 0, ingest);
    const { trace_id } = item.payload.contexts.trace;
    for (const browser of [true, false]) await arrived(traces, from(browser, trace_id), 0, ingest);
    const all = (await ingest.all()).flatMap((request) => itemsIn(request, traces));
    expect(all.filter(says("healthz"))).toEqual([]);
  });

  test("Next can write its files", async () => {
    expect(await get().type("docker compose logs web")).not.toMatch(/EROFS|ENOENT|EACCES|ENOSPC/);
  });
}
