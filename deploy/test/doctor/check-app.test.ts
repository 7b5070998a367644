import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Result } from "../../checks/result.ts";
import { impatient, run, temporaryFolder, withServices } from "../run.ts";
import { docker } from "../support/docker.ts";
import { buildImage } from "../support/images.ts";

const config = { basePath: "/shop", output: "export", env: {}, experimental: { proxyClientMaxBodySize: 10_485_760 } };
const files = {
  // Ends by no signal, as the first process of a container that handles none.
  "server.js": `
    try { require("fs").mkdirSync("/data"); } catch (error) { console.error(error); }
    require("http").createServer((request, response) => {
      response.end('<script src="/_next/static/a.js"></script>');
    }).listen(3000, "127.0.0.1");`,
  ".next/static/a.js": 'init({dsn:"x",tunnel:!0})',
  ".next/server/route.js": 'fetch(new URL("/x",e.nextUrl.origin))',
  ".next/server/server-reference-manifest.json": '{ "node": { "7f01": { "workers": {} } } }',
  ".next/server/functions-config-manifest.json": '{"functions":{"/_middleware":{}}}',
  ".next/required-server-files.json": JSON.stringify({ config }),
  Dockerfile: 'FROM node:24-trixie-slim\nWORKDIR /app\nCOPY . ./\nUSER 0\nCMD ["node", "server.js"]\n',
};
const folder = temporaryFolder();

// Good apps: web/e2e/matrix.
test("make check-app on a bad app", async () => {
  for (const path of ["static", "server"]) mkdirSync(join(folder, ".next", path), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  // Else it is unhealthy after 50 s only, and killed after 20 s.
  const soon = { ...impatient(20, 1), ...withServices("web: { healthcheck: { interval: 1s, start_period: 1s } }") };
  const WEB_IMAGE = await buildImage(folder);
  // Only its standard output: what it waits for is on the other one.
  const command = ["sh", "-c", "sh deploy/checks/host/check-app.sh --json 2>/dev/null"];
  const { code, output } = await run(command, { WEB_IMAGE, ...soon });
  expect((await docker("ps", "--all", "--quiet", `--filter=ancestor=${WEB_IMAGE}`)).output).toBe("");
  await docker("image", "rm", "--force", WEB_IMAGE);

  const checks: Result[] = JSON.parse(output).checks;
  const having = (state: string) => checks.filter((result) => result.state === state).map(({ check }) => check);
  expect(having("failed").join(", ")).toBe("health, user, files, stop, build, base path");
  expect(having("warning").join(", ")).toBe(
    "next, static files, deploymentId, bodies, server actions, addresses, addresses, server events",
  );
  expect(having("ok")).toContain("browser events");
  const found = /ECONNREFUSED .*, but localhost:3000 listens: the app must listen on port 3000 on all addresses/;
  expect(checks.find(({ check }) => check === "health")?.found).toMatch(found);
  expect(code).toBe(1);
});

test("a missing image is a one-line error", async () => {
  const { code, output } = await run(["sh", "deploy/checks/host/check-app.sh"], { WEB_IMAGE: "" });
  expect([code, output]).toEqual([1, expect.stringMatching(/^culvert: WEB_IMAGE: missing: name the image.*\n$/)]);
});
