import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findActionForm, multipart } from "../../loadtest/lib/form.ts";
import { must, run } from "./run.ts";
import { buildCa } from "./support/images.ts";

const project = `culvert-backup-${process.pid}`;
const environment = {
  IMAGES: process.env.COMPOSE_PROJECT_NAME ?? "culvert",
  COMPOSE_PROJECT_NAME: project,
  COMPOSE_FILE: "docker-compose.yml:deploy/test/backup.compose.yml",
  SENTRY_DSN: "http://culvert@ingest:1/1",
  TUNNEL_PATH: "",
};
// Two clones: the old host's and the new one's.
const folder = mkdtempSync(join(tmpdir(), "culvert-backup-"));
const inClone = (clone: string, command: string, settings = {}) =>
  must(["sh", "-euc", `cd '${folder}/${clone}'; ${command}`], { ...environment, ...settings });

afterAll(async () => {
  for (const clone of ["old", "new"])
    await run(["sh", "-c", `cd '${folder}/${clone}' && docker compose down --volumes -t 0`], environment);
  await run(["docker", "image", "rm", `${project}-web`]);
  rmSync(folder, { recursive: true });
});

const queued = (clone: string) =>
  inClone(
    clone,
    "docker compose exec -T spool node -e 'fetch(`http://127.0.0.1:8082/metrics`).then((r) => r.text()).then(console.log)'",
  ).then((metrics) => /^culvert_spool_queued_envelopes(?:\{.*\})? (\d+)/m.exec(metrics)?.[1]);

/** Requests the home page of the tests' web, or posts a form to that of another stack; returns status and body. */
function askWeb(settings = {}, { body, contentType }: Partial<ReturnType<typeof multipart>> = {}): Promise<string> {
  const options = body ? { method: "POST", headers: { "content-type": contentType }, body } : {};
  const script = `fetch("http://127.0.0.1:3000/", ${JSON.stringify(options)})
    .then(async (response) => console.log(response.status, await response.text()))`;
  return must(["docker", "compose", "exec", "-T", "web", "node", "-e", script], settings);
}

test("a backup has the settings, the queued envelopes and the key of open pages' forms; restored, they are there", async () => {
  for (const clone of ["old", "new"])
    await must([
      "sh",
      "-euc",
      `mkdir '${folder}/${clone}'; git ls-files -co --exclude-standard docker-compose.yml deploy proxy/spool proxy/Dockerfile web | tar -cf - -T - | tar -xf - -C '${folder}/${clone}'`,
    ]);
  writeFileSync(join(folder, "old/.env"), "REGION=kept\n");
  // The old host's release and an open page of it are those of the tests' stack.
  const manifest = 'require("/app/.next/server/server-reference-manifest.json").encryptionKey';
  mkdirSync(join(folder, "old/.culvert"));
  const key = await must(["docker", "compose", "exec", "-T", "web", "node", "-p", manifest]);
  writeFileSync(join(folder, "old/.culvert/server-actions.key"), key);
  const openPage = await askWeb();
  await inClone("old", "docker compose up --detach --no-build --wait spool");
  // The ingest is nowhere.
  const envelope = JSON.stringify('{}\n{"type":"event"}\n{}\n');
  await inClone(
    "old",
    `docker compose exec -T spool node -e 'fetch("http://127.0.0.1:8082/", { method: "POST", headers: { "x-spool-destination": "http://ingest:1/api/1/envelope/" }, body: ${envelope} }).then((r) => process.exit(r.ok ? 0 : 1))'`,
  );
  await expect.poll(() => queued("old")).toBe("1");

  // A docker client that interrupts the backup when it has stopped the spool.
  mkdirSync(join(folder, "bin"));
  const docker = await must(["sh", "-c", "command -v docker"]);
  const script = `#!/bin/sh\n${docker} "$@" || exit\ncase "$*" in *"stop spool") kill -INT $PPID ;; esac\n`;
  writeFileSync(join(folder, "bin/docker"), script, { mode: 0o755 });
  const PATH = `${folder}/bin:${process.env.PATH}`;
  const interrupted = ["sh", `${folder}/old/deploy/host/backup.sh`];
  expect((await run(interrupted, { ...environment, PATH, FILE: join(folder, "none.tar") })).code).toBe(130);
  expect(await queued("old")).toBe("1");

  await inClone("old", "FILE=../backup.tar sh deploy/host/backup.sh");
  expect(await queued("old")).toBe("1");
  await inClone("old", "docker compose down --volumes");

  await inClone("new", "FILE=../backup.tar sh deploy/host/restore.sh");
  expect(readFileSync(join(folder, "new/.env"), "utf8")).toBe("REGION=kept\n");
  await inClone("new", "docker compose up --detach --no-build --wait spool");
  expect(await queued("new")).toBe("1");
  // SENTRY_PROJECT: without what the build cache has of other builds.
  const build = `export_build_settings; docker compose build --build-arg SENTRY_PROJECT=${project} web`;
  await inClone("new", `. deploy/host/lib.sh; ${build}`, { BUILD_CA_FILE: await buildCa() });
  await inClone("new", "docker compose up --detach --no-build --no-deps --wait web");
  const form = multipart(findActionForm(openPage)?.fields ?? [], "restored");
  expect(form.body).toContain("$ACTION_");
  expect(await askWeb(environment, form)).toMatch(/^200 /);

  const { code, output } = await run(
    ["sh", "-euc", `cd '${folder}/new'; FILE=../backup.tar sh deploy/host/restore.sh`],
    environment,
  );
  expect([code, output]).toEqual([1, expect.stringContaining("culvert: restore: there is a .env already")]);
});
