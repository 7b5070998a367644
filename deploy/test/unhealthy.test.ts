import { afterEach, expect, test } from "vitest";
import { run } from "./run.ts";

const environment = {
  COMPOSE_PROJECT_NAME: `culvert-unhealthy-${process.pid}`,
  COMPOSE_FILE: "docker-compose.yml:deploy/test/unhealthy.compose.yml",
  HTTPS_PORT: String(Number(process.env.HTTPS_PORT) + 5),
  HTTP_PORT: String(Number(process.env.HTTP_PORT) + 5),
};

afterEach(async () => {
  await run(["docker", "compose", "--profile", "*", "down", "--volumes", "-t", "0"], environment);
});

test.each([
  [
    "an app that fails its health check",
    { BASE_PATH: "/shop", HEALTH_PATH: "/api/ready" },
    "culvert: web (running): GET /shop/api/ready: status 503: see 'docker compose logs web', or set HEALTH_PATH to a path that answers below 500 (BASE_PATH goes before it)",
  ],
  [
    "an app that listens on 127.0.0.1 only",
    { APP_HOST: "127.0.0.1" },
    "culvert: web (running): GET /healthz: connect ECONNREFUSED <address>:3000: the app must listen on port 3000 on all addresses, not on 127.0.0.1 only (PORT=3000 HOSTNAME=0.0.0.0)",
  ],
])(
  "%s: the start fails with one line that names the request, the response and the fix",
  {
    timeout: 900_000,
  },
  async (_, settings, line) => {
    const { code, output } = await run(["sh", "deploy/host/up.sh"], { ...environment, ...settings });
    expect(output.replaceAll(/\b(?!127|0\.)\d+\.\d+\.\d+\.\d+\b/g, "<address>").split("\n")).toContain(line);
    expect(code).toBe(1);
  },
);
