import { readFileSync } from "node:fs";
import { root } from "../../../deploy/test/support/docker.ts";
import { fixtures } from "../../telemetry/cli/fixtures/apps.ts";
import { expect, open, test } from "../fixtures.ts";
import { READ_STREAM } from "../local-ingest.ts";
import { type App, buildImages, makeApp, packPackage, SENTRY_ENVIRONMENT } from "./app.ts";

/** What docs/your-app.md says to type. */
const [, section = ""] = readFileSync(`${root}/docs/your-app.md`, "utf8").split(/^## /m);
const commands = section.match(/(?<=^ {4})(?:npm|npx|docker) .*/gm) ?? [];

/** Each takes a build of Next. YOUR_APP=all runs them all, YOUR_APP=hand-made a single one. */
const chosen = process.env.YOUR_APP ?? "wizard-app wizard-pages";
const names = (Object.keys(fixtures) as (keyof typeof fixtures)[]).filter(
  (name) => chosen === "all" || chosen.split(" ").includes(name),
);

/** Waits until an exception with all the words has arrived at the local ingest, and returns its event as JSON. */
function arrived(app: App, ...words: string[]): Promise<string> {
  const quoted = [READ_STREAM, "1", '"exception"', ...words].map((word) => `'${word.replaceAll("'", `'"'"'`)}'`);
  return app.type(`docker compose exec -T ingest node -e ${quoted.join(" ")}`);
}
const field = (event: string, name: string) => new RegExp(`"${name}":"([^"]*)"`).exec(event)?.[1];

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
  test(`the commands of docs/your-app.md, and what each part of the package does: ${name}`, async ({ page, allow }) => {
    test.setTimeout(1_200_000);
    const fixture = fixtures[name];
    const app = await makeApp(fixture, tarball, name !== "wizard-app");
    const api = `${app.origin}/api/sentry-example-api`;
    allow.origin(app.origin);
    // 404: the app has no icon. ERR: the proxy is stopped.
    allow.consoleError(/raised on the frontend|proxy is away|status of (404|500)|net::ERR/);
    try {
      for (const command of commands) {
        const began = Date.now();
        await app.type(command);
        console.log(`${name}: ${command}: ${Math.round((Date.now() - began) / 1000)} s`);
      }
      const start = commands.at(-1) ?? "";

      await test.step("an error of each side arrives: one trace, the environment of the container, the request's id", async () => {
        await open(page, `${app.origin}/sentry-example-page`);
        const response = page.waitForResponse(api);
        await page.getByRole("button", { name: "Throw Sample Error" }).click();
        const browser = await arrived(app, "raised on the frontend");
        const server = await arrived(app, "raised on the backend");
        expect(field(browser, "trace_id")).toMatch(/^[0-9a-f]{32}$/);
        expect(field(server, "trace_id")).toBe(field(browser, "trace_id"));
        expect([field(browser, "environment"), field(server, "environment")]).toEqual([
          SENTRY_ENVIRONMENT,
          SENTRY_ENVIRONMENT,
        ]);
        expect(field(server, "request_id")).toBe((await response).headers()["x-request-id"]);
      });

      await test.step("a secret and an e-mail address in a query do not arrive", async () => {
        await page.request.get(`${api}?order=4711&password=correct-horse&from=jane@example.com`);
        const event = await arrived(app, "order=4711");
        expect(event).not.toMatch(/correct-horse|jane/);
      });

      /** Requests the API from inside `web`, past the proxy. */
      const failInside = (query: string) =>
        app.type(
          `docker compose exec -T web node -e 'fetch("http://127.0.0.1:3000${new URL(api).pathname}?${query}")'`,
        );

      await test.step("while the proxy is away, the browser keeps its error, and the server's arrives by the spool", async () => {
        await app.type("docker compose stop --timeout 0 proxy");
        const failed = page.waitForEvent("requestfailed", (request) => request.method() === "POST");
        await page.evaluate(() => {
          setTimeout(() => {
            throw new Error("the proxy is away");
          });
        });
        await failed;
        await failInside("order=4712");
        await arrived(app, "order=4712");
      });

      await test.step("what the server could send to neither, and the browser's error, arrive when both are back", async () => {
        await app.type("docker compose stop --timeout 0 spool");
        await failInside("order=4713");
        await app.type(start);
        await arrived(app, "order=4713");
        await arrived(app, "the proxy is away");
      });
    } finally {
      // It would go on sending.
      await page.close();
      await app.close();
    }
  });
