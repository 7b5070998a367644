import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { root } from "../../../deploy/test/support/docker.ts";
import { expect, test } from "./apps.ts";
import { dsnOf } from "./sentry-host.ts";
import { image } from "./start.ts";

for (const [name, BASE_PATH] of [
  ["app-router", "/shop"],
  ["pages-router", ""],
  ["wizard", ""],
] as const) {
  // biome-ignore lint/correctness/noUnusedFunctionParameters: `apps` builds the images.
  test(`deploy/app/Dockerfile builds what the contract asks for: ${name}`, async ({ apps }) => {
    const TUNNEL_ALLOWED_DSNS = [dsnOf("app-router"), dsnOf("wizard")].join(" ");
    const settings = { WEB_IMAGE: image(name), BASE_PATH, TUNNEL_ALLOWED_DSNS, COMPOSE_FILE: "docker-compose.yml" };
    const env = { ...process.env, ...settings };
    const { stdout } = await promisify(execFile)("sh", ["deploy/doctor/check-app.sh", "--json"], { cwd: root, env });
    const { checks }: { checks: { check: string; state: string }[] } = JSON.parse(stdout);
    const ok = checks.filter(({ state }) => state === "ok").map(({ check }) => check);
    const wanted = ["health", "page", "user", "files", "stop", "next", "build", "static files", "base path"];
    expect(ok).toEqual(expect.arrayContaining([...wanted, "deploymentId"]));
  });
}
