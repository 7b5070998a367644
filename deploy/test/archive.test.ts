import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { must } from "./run.ts";
import { root } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";

const version = readFileSync(join(root, "VERSION"), "utf8").trim();
const registry = "registry.example/culvert";
const work = mkdtempSync(join(tmpdir(), "culvert-archive-"));
const folder = join(work, `culvert-${version}`);
const names = ["proxy", "spool", "web", "ingest"];
const image = (name: string) => `${registry}/culvert-${name}:${version}`;

/** What an operator's shell has: none of the tests' settings. */
const { PATH = "", HOME = "/root" } = process.env;
const port = 18_990 + Number(process.env.TEST_STACK ?? 0);
const settings = {
  COMPOSE_PROJECT_NAME: `culvert-archive-${process.pid}`,
  HTTPS_PORT: String(port),
  HTTP_PORT: String(port + 1_000),
  INGEST_PORT: String(port + 2_000),
  // As after `docker load`.
  CULVERT_DIGESTS: "",
  BAKE_TIME_S: "off",
};

/** Types a command in the unpacked folder; resolves with its exit code and output. */
function type(command: string): Promise<[number | null, string]> {
  const child = spawn("sh", ["-c", `${command} 2>&1`], { cwd: folder, env: { PATH, HOME, ...settings } });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve([code, output])));
}

afterAll(async () => {
  await type("docker compose --profile '*' down --volumes --rmi local --timeout 0");
  await type(`docker image rm ${names.map(image).join(" ")}`);
  rmSync(work, { recursive: true });
});

test("the archive alone: make up starts the released images, an event arrives, make doctor finds nothing wrong", async () => {
  for (const name of names.slice(0, 3))
    await must(["docker", "tag", `${process.env.COMPOSE_PROJECT_NAME}-${name}`, image(name)]);
  await buildImage("deploy/ingest", { tag: image("ingest") });
  mkdirSync(join(work, "out"));
  const digests = [...names, "acme"].map((name) => `${name}:${version}@sha256:${"0".repeat(64)}\n`);
  writeFileSync(join(work, "out/digests"), digests.join(""));
  await must(["sh", "deploy/release/archive.sh"], {
    ...{ OUT: join(work, "out"), VERSION: version, REGISTRY: registry, SOURCE_DATE_EPOCH: "1700000000" },
  });
  execFileSync("tar", ["-xzf", join(work, "out", `culvert-${version}.tar.gz`), "-C", work]);

  const [started, output] = await type("make up");
  expect(started, output).toBe(0);
  expect(output).toContain(`https://localhost:${port}/`);
  const page = `https://localhost:${port}`;
  const envelope =
    '{"event_id":"0123456789abcdef0123456789abcdef"}\\n{"type":"event"}\\n{"message":"from the archive"}\\n';
  const [sent, answer] = await type(
    `curl -sSkf -o /dev/null ${page}/ && printf '${envelope}' | curl -sSkf -H 'Content-Type: text/plain;charset=UTF-8' --data-binary @- ${page}/monitoring`,
  );
  expect([sent, answer]).toEqual([0, ""]);
  // As Sentry answers.
  expect(
    await type(
      `printf '${envelope}' | curl -sS --data-binary @- http://127.0.0.1:${settings.INGEST_PORT}/api/1/envelope/`,
    ),
  ).toEqual([0, '{"id":"0123456789abcdef0123456789abcdef"}']);
  const arrived = () => type(`curl -sSN -m 5 http://127.0.0.1:${settings.INGEST_PORT}/stream`);
  await expect.poll(async () => (await arrived())[1]).toContain("from the archive");
  const [found, report] = await type("make doctor");
  expect(found, report).toBe(0);
  expect((await type("make status"))[1]).toMatch(new RegExp(`^culvert +${version}`, "m"));

  // A setting that removes a service.
  expect((await type("SENTRY_DSN=https://key@o1.ingest.sentry.io/2 make up"))[0]).toBe(0);
  const [, services] = await type("docker compose --profile '*' ps --all --services");
  expect(services.trim().split("\n").sort()).toEqual(["proxy", "spool", "web"]);
  expect((await type("make down"))[0]).toBe(0);
});
