import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Result } from "../../doctor/result.ts";
import { lastLine, run } from "../run.ts";
import { docker } from "../support/docker.ts";
import { buildImage } from "../support/images.ts";

const server = (host: string, start: string) => `
  ${start}
  require("http").createServer((request, response) => {
    // Sentry's SDK would record this request.
    if (!/^[0-9a-f]{32}-[0-9a-f]{16}-0$/.test(request.headers["sentry-trace"])) process.abort();
    if (request.url.includes("/missing")) response.statusCode = 404;
    response.end('<script src="/_next/static/a.js"></script>');
  }).listen(3000, "${host}");`;
const apps = {
  good: {
    user: "1000:1000",
    config: {
      ...{ basePath: "", output: "standalone", deploymentId: "7", env: {} },
      experimental: { proxyClientMaxBodySize: "20mb" },
    },
    browser: 'init({dsn:"x",tunnel:!0})',
    server: server("0.0.0.0", 'process.on("SIGTERM", () => process.exit(143));'),
  },
  bad: {
    user: "0",
    config: {
      ...{ basePath: "/shop", output: "export", deploymentId: "", env: {} },
      experimental: { proxyClientMaxBodySize: 10_485_760 },
    },
    browser: "",
    // Ends by no signal, as the first process of a container that handles none.
    server: server("127.0.0.1", 'try { require("fs").mkdirSync("/data"); } catch (error) { console.error(error); }'),
  },
};
const images: string[] = [];
afterAll(async () => {
  await docker("image", "rm", "--force", ...images);
});

/** Builds an app with just what the contract is about, and returns what make check-app says of it. */
async function check(
  name: keyof typeof apps,
): Promise<{ code: number; states: Record<string, string>; health: string }> {
  const folder = mkdtempSync(join(tmpdir(), "culvert-app-"));
  const app = apps[name];
  mkdirSync(join(folder, ".next/static"), { recursive: true });
  writeFileSync(join(folder, "server.js"), app.server);
  writeFileSync(join(folder, ".next/static/a.js"), app.browser);
  mkdirSync(join(folder, ".next/server"));
  writeFileSync(join(folder, ".next/server/functions-config-manifest.json"), '{"functions":{"/_middleware":{}}}');
  writeFileSync(join(folder, ".next/required-server-files.json"), JSON.stringify({ config: app.config }));
  writeFileSync(
    join(folder, "Dockerfile"),
    `FROM node:24-trixie-slim\nWORKDIR /app\nCOPY . ./\nUSER ${app.user}\nCMD ["node", "server.js"]\n`,
  );
  const image = await buildImage(folder);
  images.push(image);
  rmSync(folder, { recursive: true });
  const { code, output } = await run(["sh", "deploy/doctor/check-app.sh", "--json"], {
    WEB_IMAGE: image,
    BASE_PATH: "",
    COMPOSE_FILE: "docker-compose.yml",
  });
  expect((await docker("ps", "--all", "--quiet", `--filter=ancestor=${image}`)).output).toBe("");
  const checks: Result[] = JSON.parse(output).checks;
  const health = checks.find(({ check }) => check === "health")?.found ?? "";
  return { code, states: Object.fromEntries(checks.map(({ check, state }) => [check, state])), health };
}

test("an app that meets the contract", async () => {
  const { code, states, health } = await check("good");
  expect(states).toMatchObject({
    health: "ok",
    page: "ok",
    user: "ok",
    files: "ok",
    stop: "ok",
    build: "ok",
    "static files": "ok",
    "base path": "ok",
    deploymentId: "ok",
    "browser events": "ok",
  });
  expect(health).toBe("GET /healthz: status 200");
  expect(Object.values(states)).not.toContain("failed");
  expect(code).toBe(0);
});

test("an app that breaks the contract", async () => {
  const { code, states, health } = await check("bad");
  expect(states).toMatchObject({
    health: "failed",
    user: "failed",
    files: "failed",
    stop: "failed",
    build: "failed",
    "base path": "failed",
    deploymentId: "unknown",
    bodies: "unknown",
    "browser events": "unknown",
  });
  expect(health).toMatch(
    /ECONNREFUSED .*: the app must listen on port 3000 on all addresses, not on 127\.0\.0\.1 only/,
  );
  expect(code).toBe(1);
});

test("a missing image, and one that cannot be pulled, is a one-line error", async () => {
  const none = await run(["sh", "deploy/doctor/check-app.sh"], { WEB_IMAGE: "" });
  expect(none.output.trim()).toMatch(/^culvert: WEB_IMAGE: missing: name the image to check/);
  const nowhere = await run(["sh", "deploy/doctor/check-app.sh"], { WEB_IMAGE: "127.0.0.1:1/shop" });
  expect(lastLine(nowhere.output)).toMatch(/^culvert: WEB_IMAGE: 127\.0\.0\.1:1\/shop is not on this machine/);
  expect([none.code, nowhere.code]).toEqual([1, 1]);
});
