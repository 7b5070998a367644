import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lastLine, must, run, withDocker } from "./run.ts";
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

async function clean() {
  for (const clone of ["old", "new"])
    await run(["sh", "-c", `cd '${folder}/${clone}' && docker compose down --volumes -t 0`], environment);
  // Compose leaves those of services that are off.
  await run(["sh", "-c", `docker volume ls --quiet --filter=name=${project} | xargs -r docker volume rm`]);
  await run(["docker", "image", "rm", `${project}-web`]);
  rmSync(folder, { recursive: true });
}
afterAll(clean);

const queued = (clone: string) =>
  inClone(
    clone,
    "docker compose exec -T spool node -e 'fetch(`http://127.0.0.1:8082/metrics`).then((r) => r.text()).then(console.log)'",
  ).then((metrics) => /^culvert_spool_queued_envelopes(?:\{.*\})? (\d+)/m.exec(metrics)?.[1]);

/** An app in web's place, built by web's Dockerfile, which tells the key of its build: with that key, Next accepts forms of open pages. */
function writeApp(web: string) {
  const script = `// ${project}: not what the build cache has of another run, since a secret is not part of its key.
    const { mkdirSync, writeFileSync } = require("fs");
    mkdirSync(".next/standalone", { recursive: true });
    writeFileSync(".next/standalone/server.js", "console.log('" + process.env.NEXT_SERVER_ACTIONS_ENCRYPTION_KEY + "')");`;
  const manifest = '{ "name": "x", "private": true, "scripts": { "build": "node build.cjs" } }';
  const files = { "package.json": manifest, "telemetry/package.json": manifest, "build.cjs": script, ".npmrc": "" };
  mkdirSync(join(web, "telemetry"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(web, name), text);
  writeFileSync(join(web, "package-lock.json"), '{ "lockfileVersion": 3, "packages": { "": {} } }');
}

test("a backup has the settings, the queued envelopes and the key of open pages' forms; restored, they are there", async () => {
  // A second attempt begins anew.
  await clean();
  mkdirSync(folder);
  const files =
    "git ls-files -co --exclude-standard docker-compose.yml deploy proxy/spool proxy/Dockerfile web/Dockerfile";
  for (const clone of ["old", "new"])
    await must([
      "sh",
      "-euc",
      `mkdir '${folder}/${clone}'; ${files} | tar -cf - -T - | tar -xf - -C '${folder}/${clone}'`,
    ]);
  writeFileSync(join(folder, "old/.env"), "REGION=kept\n");
  const key = readFileSync(await inClone("old", "sh deploy/host/server-actions-key.sh"), "utf8");
  await inClone("old", "docker compose up --detach --no-build --wait spool");
  // The ingest is nowhere.
  const envelope = JSON.stringify('{}\n{"type":"event"}\n{}\n');
  await inClone(
    "old",
    `docker compose exec -T spool node -e 'fetch("http://127.0.0.1:8082/", { method: "POST", headers: { "x-spool-destination": "http://ingest:1/api/1/envelope/" }, body: ${envelope} }).then((r) => process.exit(r.ok ? 0 : 1))'`,
  );
  await expect.poll(() => queued("old")).toBe("1");

  // A docker client that interrupts the backup when it has stopped the spool.
  const client = withDocker('$client "$@" || exit; case "$*" in *"stop spool") kill -INT $PPID ;; esac');
  const interrupted = ["sh", `${folder}/old/deploy/host/backup.sh`];
  expect((await run(interrupted, { ...environment, ...client, FILE: join(folder, "none.tar") })).code).toBe(130);
  expect(await queued("old")).toBe("1");

  // One that loses the end of what it writes.
  const lossy = withDocker(
    'case "$*" in *" tar "*" -cf "*) $client "$@" | head -c 4096 ;; *) exec $client "$@" ;; esac',
  );
  const lost = await run(interrupted, { ...environment, ...lossy, FILE: join(folder, "none.tar") });
  expect([lost.code, lastLine(lost.output)]).toEqual([1, expect.stringMatching(/^culvert: backup: what was written/)]);
  expect(existsSync(join(folder, "none.tar"))).toBe(false);

  await inClone("old", "FILE=../backup.tar sh deploy/host/backup.sh");
  expect(await queued("old")).toBe("1");
  await inClone("old", "docker compose down --volumes -t 0");

  writeFileSync(join(folder, "part.tar"), readFileSync(join(folder, "backup.tar")).subarray(0, -20_000));
  const part = await run(["sh", "-euc", `cd '${folder}/new'; FILE=../part.tar sh deploy/host/restore.sh`], environment);
  const volumes = await must(["docker", "volume", "ls", "--quiet", `--filter=name=${project}`]);
  expect([part.code, lastLine(part.output), volumes]).toEqual([
    1,
    expect.stringMatching(/^culvert: FILE: .*not a whole one/),
    "",
  ]);
  await inClone("new", "FILE=../backup.tar sh deploy/host/restore.sh");
  expect(readFileSync(join(folder, "new/.env"), "utf8")).toBe("REGION=kept\n");
  await inClone("new", "docker compose up --detach --no-build --wait spool");
  expect(await queued("new")).toBe("1");
  writeApp(join(folder, "new/web"));
  const build = `
    . deploy/lib.sh; for file in stack releases env-file build; do . deploy/host/$file.sh; done
    use_project; export_build_settings; docker compose build --quiet web`;
  await inClone("new", build, { BUILD_CA_FILE: await buildCa() });
  expect(await must(["docker", "run", "--rm", "--network=none", `${project}-web`])).toBe(key.trim());

  const again = ["sh", "-euc", `cd '${folder}/new'; FILE=../backup.tar sh deploy/host/restore.sh`];
  const { code, output } = await run(again, environment);
  expect([code, output]).toEqual([1, expect.stringContaining("culvert: restore: there is a .env already")]);
});
