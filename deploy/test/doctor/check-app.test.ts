import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Result } from "../../checks/result.ts";
import { impatient, run, temporaryFolder, withServices } from "../run.ts";
import { docker } from "../support/docker.ts";
import { buildImage } from "../support/images.ts";

const apps = {
  good: {
    user: "1000:1000",
    config: { basePath: "", output: "standalone", deploymentId: "7", experimental: { proxyClientMaxBodySize: "20mb" } },
    browser: 'init({dsn:"x",tunnel:!0})',
    code: 'fetch("http://localhost:3000/x");f(e.nextUrl.pathname)',
    actions: {},
    start: 'process.on("SIGTERM", () => process.exit(143));',
    host: "0.0.0.0",
    states: {
      ok: "health, page, user, files, stop, build, static files, base path, deploymentId, browser events",
      warning: "next, server events",
      failed: "",
    },
    found: /^GET \/healthz: status 200$/,
  },
  bad: {
    user: "0",
    config: { basePath: "/shop", output: "export", experimental: { proxyClientMaxBodySize: 10_485_760 } },
    browser: "",
    code: 'fetch(new URL("/x",e.nextUrl.origin))',
    actions: { "7f01": { workers: {} } },
    // Ends by no signal, as the first process of a container that handles none.
    start: 'try { require("fs").mkdirSync("/data"); } catch (error) { console.error(error); }',
    host: "127.0.0.1",
    states: {
      failed: "health, user, files, stop, build, base path",
      warning:
        "next, static files, deploymentId, bodies, server actions, addresses, addresses, server events, browser events",
    },
    found: /ECONNREFUSED .*, but localhost:3000 listens: the app must listen on port 3000 on all addresses/,
  },
};
const server = ({ start, host }: Record<"start" | "host", string>) => `
  ${start}
  require("http").createServer((request, response) => {
    response.end('<script src="/_next/static/a.js"></script>');
  }).listen(3000, "${host}");`;

const folder = temporaryFolder();
/** Runs it, and takes only its standard output: what it waits for is on the other one. */
const checkApp = (settings: Record<string, string>) =>
  run(["sh", "-c", "sh deploy/checks/host/check-app.sh --json 2>/dev/null"], settings);

test.each(["good", "bad"] as const)("make check-app on a %s app", async (name) => {
  const app = apps[name];
  const files = {
    "server.js": server(app),
    ".next/static/a.js": app.browser,
    ".next/server/route.js": app.code,
    ".next/server/server-reference-manifest.json": JSON.stringify({ node: app.actions }),
    ".next/server/functions-config-manifest.json": '{"functions":{"/_middleware":{}}}',
    ".next/required-server-files.json": JSON.stringify({ config: { ...app.config, env: {} } }),
    Dockerfile: `FROM node:24-trixie-slim\nWORKDIR /app\nCOPY . ./\nUSER ${app.user}\nCMD ["node", "server.js"]\n`,
  };
  for (const path of ["static", "server"]) mkdirSync(join(folder, name, ".next", path), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, name, path), text);
  // Else it is unhealthy after 50 s only, and killed after 20 s.
  const soon = { ...impatient(20, 1), ...withServices("web: { healthcheck: { interval: 1s, start_period: 1s } }") };
  const WEB_IMAGE = await buildImage(join(folder, name));
  const { code, output } = await checkApp({ WEB_IMAGE, ...(name === "bad" && soon) });
  expect((await docker("ps", "--all", "--quiet", `--filter=ancestor=${WEB_IMAGE}`)).output).toBe("");
  await docker("image", "rm", "--force", WEB_IMAGE);

  const checks: Result[] = JSON.parse(output).checks;
  const found = (state: string) => checks.filter((one) => one.state === state).map(({ check }) => check);
  for (const [state, names] of Object.entries(app.states)) expect(found(state).join(", "), state).toBe(names);
  expect(checks.find(({ check }) => check === "health")?.found).toMatch(app.found);
  expect(code).toBe(name === "bad" ? 1 : 0);
});

test("a missing image is a one-line error", async () => {
  const { code, output } = await run(["sh", "deploy/checks/host/check-app.sh"], { WEB_IMAGE: "" });
  expect([code, output]).toEqual([1, expect.stringMatching(/^culvert: WEB_IMAGE: missing: name the image.*\n$/)]);
});
