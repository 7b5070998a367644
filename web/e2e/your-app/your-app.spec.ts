import { readFileSync } from "node:fs";
import { root } from "../../../deploy/test/support/docker.ts";
import { fixtures } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, open, test } from "../fixtures.ts";
import { buildImages, makeApp, packPackage } from "./app.ts";

/** What docs/your-app.md says to type. */
const [, section = ""] = readFileSync(`${root}/docs/your-app.md`, "utf8").split(/^## /m);
const commands = section.match(/(?<=^ {4})(?:npm|npx|docker) .*/gm) ?? [];

/** Each takes a build of Next. YOUR_APP=all runs them all, YOUR_APP=hand-made a single one. */
const chosen = process.env.YOUR_APP ?? "wizard-app wizard-pages";
const names = (Object.keys(fixtures) as (keyof typeof fixtures)[]).filter(
  (name) => chosen === "all" || chosen.split(" ").includes(name),
);

/** Reads the local ingest's stream until it has had both events, and prints their trace ids; exits with 1 after a minute. */
const READ_STREAM = `
  setTimeout(() => process.exit(1), 60_000);
  let text = "";
  fetch("http://127.0.0.1:8969/stream").then(async ({ body }) => {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const traces = ["raised on the frontend", "raised on the backend"].map((message) => {
        const line = text.split("\\n").find((line) => line.includes(message) && line.includes('"exception"'));
        return /"trace_id":"([0-9a-f]{32})"/.exec(line)?.[1];
      });
      if (traces.every(Boolean)) { console.log("traces " + traces.join(" ")); process.exit(); }
    }
  });
`;

let tarball: string;
test.beforeAll(async () => {
  test.setTimeout(900_000);
  await buildImages();
  tarball = await packPackage();
});

test("docs/your-app.md names at most six commands", () => {
  expect(commands).toHaveLength(3);
});

for (const name of names)
  test(`the commands of docs/your-app.md: an error of each side arrives, in one trace: ${name}`, async ({
    page,
    allow,
  }) => {
    test.setTimeout(1_200_000);
    const fixture = fixtures[name];
    const app = await makeApp(fixture, tarball, name !== "wizard-app");
    allow.origin(app.origin);
    // 404: the app has no icon.
    allow.consoleError(/raised on the frontend|status of (404|500)/);
    try {
      for (const command of commands) {
        const began = Date.now();
        await app.type(command);
        console.log(`${name}: ${command}: ${Math.round((Date.now() - began) / 1000)} s`);
      }
      await open(page, `${app.origin}${fixture.page}`);
      await page.getByRole("button", { name: "Throw Sample Error" }).click();
      const found = await app.type(`docker compose exec -T ingest node -e '${READ_STREAM.replaceAll("'", `'"'"'`)}'`);
      const [, browser, server] = /traces (\w+) (\w+)/.exec(found) ?? [];
      expect(browser).toMatch(/^[0-9a-f]{32}$/);
      expect(server).toBe(browser);
    } finally {
      // It would go on sending.
      await page.close();
      await app.close();
    }
  });
