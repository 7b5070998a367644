import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { docker, label, must, root } from "./support/docker.ts";

const program = readFileSync(join(root, "deploy/web/health-check.cjs"), "utf8");
/** An app that listens after SIGUSR2. It answers with the status in the path, and nothing for /0. */
const app = `
  const server = require("http").createServer(({ url }, response) => {
    response.statusCode = url.match(/\\d+$/) ?? 200;
    if (url !== "/0") response.end();
  });
  process.on("SIGUSR2", () => server.listen(3000));
  setInterval(() => {}, 1e9);
`;

// An app that listens on localhost only: deploy-failures.test.ts.
test("only the first check waits; healthy is any status below 500, below BASE_PATH; the output says why", async () => {
  const options = ["--detach", label, "--read-only", "--tmpfs=/tmp"];
  const id = await must("run", ...options, "node:24-trixie-slim", "node", "-e", app);
  onTestFinished(() => must("rm", "--force", id).then(() => {}));
  const check = (...settings: string[]) => {
    const variables = settings.map((setting) => `--env=${setting}`);
    return docker("exec", ...variables, id, "node", "-e", program, "/healthz");
  };
  const first = check();
  await expect.poll(() => docker("exec", id, "test", "-d", "/tmp/.culvert-health")).toMatchObject({ code: 0 });
  const refused = /^refused GET \/healthz: connect ECONNREFUSED [\d.]+:3000\n$/;
  expect(await check()).toEqual({ code: 1, output: expect.stringMatching(refused) });
  await must("kill", "--signal=USR2", id);
  expect(await first).toEqual({ code: 0, output: "http-ok GET /healthz: status 200\n" });

  expect(await check("HEALTH_PATH=", "BASE_PATH=")).toEqual({ code: 0, output: "http-ok GET /healthz: status 200\n" });
  expect(await check("HEALTH_PATH=/404")).toEqual({ code: 0, output: "http-ok GET /404: status 404\n" });
  expect(await check("BASE_PATH=/shop")).toEqual({ code: 0, output: "http-ok GET /shop/healthz: status 200\n" });
  expect(await check("HEALTH_PATH=/500")).toEqual({ code: 1, output: "http-error GET /500: status 500\n" });
  expect(await check("HEALTH_PATH=/0")).toEqual({ code: 1, output: "slow GET /0: no answer within 4 s\n" });
});
