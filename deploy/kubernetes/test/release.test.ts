import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { hasHelm } from "./lib/chart.ts";
import { root } from "./lib/paths.ts";
import { startRegistry } from "./lib/registry.ts";

/** Runs a program asynchronously, because the registry is in this process; never throws. */
const run = (file: string, args: string[], env: NodeJS.ProcessEnv = {}) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    execFile(file, args, { cwd: root, env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error ? 1 : 0, output: stdout + stderr });
    });
  });

describe.skipIf(!hasHelm)("make release", () => {
  let folder: string;
  let server: Server;
  let address: string;
  let paths: () => string[];
  const release = (env: NodeJS.ProcessEnv) =>
    run("sh", ["deploy/chart/release.sh"], { PATH: `${folder}:${process.env.PATH}`, ...env });

  beforeAll(async () => {
    const registry = await startRegistry();
    ({ server, address } = registry);
    paths = () => [...registry.content.keys()];
    folder = mkdtempSync(join(tmpdir(), "culvert-release-"));
    // A fake engine that records its commands.
    writeFileSync(
      join(folder, "docker"),
      `#!/bin/sh
case "$*" in
  "compose config") echo "name: stack" ;;
  "compose build web") echo "$BUILD_CA_FILE $SERVER_ACTIONS_KEY_FILE" >${folder}/files ;;
esac
echo "$*" >>${folder}/commands\n`,
    );
    chmodSync(join(folder, "docker"), 0o755);
  });
  afterAll(() => {
    server?.close();
    rmSync(folder, { recursive: true });
  });

  test("pushes three images, then a chart that names them", async () => {
    const registry = `${address}/shop`;
    const files = { BUILD_CA_FILE: "/ca.crt", SERVER_ACTIONS_KEY_FILE: undefined, COMPOSE_ENV_FILES: "/dev/null" };
    const { code, output } = await release({ VERSION: "1.2.3", REGISTRY: registry, ...files });
    expect([output, code]).toEqual([expect.stringContaining(`Pushed: ${registry}/culvert:1.2.3`), 0]);
    const names = ["proxy", "spool", "web"];
    const commands = readFileSync(`${folder}/commands`, "utf8").trim().split("\n");
    expect(commands.filter((line) => line.startsWith("push"))).toEqual(
      names.map((name) => `push ${registry}/culvert-${name}:1.2.3`),
    );
    expect(commands.filter((line) => line.startsWith("tag"))).toEqual(
      names.map((name) => `tag stack-${name} ${registry}/culvert-${name}:1.2.3`),
    );
    expect(readFileSync(`${folder}/files`, "utf8")).toBe(`/ca.crt ${root}/.culvert/server-actions.key\n`);
    expect(paths()).toContain("/v2/shop/culvert/manifests/1.2.3");

    const chart = ["template", "culvert", `oci://${registry}/culvert`, "--version=1.2.3", "--plain-http"];
    const rendered = await run(inject("helm"), chart);
    for (const name of names) expect(rendered.output).toContain(`image: ${registry}/culvert-${name}:1.2.3`);
    expect(rendered.output).toContain("SENTRY_RELEASE: 1.2.3");
    expect(rendered.output).not.toContain(":local");
  });

  test.each([
    ["VERSION", { VERSION: "v1", REGISTRY: "registry.example.com" }],
    ["REGISTRY", { VERSION: "1.0.0", REGISTRY: "https://registry.example.com" }],
  ])("rejects an invalid %s before anything is built", async (name, env) => {
    rmSync(`${folder}/commands`, { force: true });
    const { code, output } = await release(env);
    expect([code, output]).toEqual([1, expect.stringMatching(new RegExp(`^culvert: ${name}: '.*' is not a .*: use `))]);
    expect(() => readFileSync(`${folder}/commands`)).toThrow();
  });
});
