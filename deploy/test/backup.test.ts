import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { copySources, lastLine, must, run, withDocker, withServices } from "./run.ts";
import { IMAGES, projectName } from "./support/docker.ts";
import { buildCa } from "./support/images.ts";

const project = projectName("backup");
const environment = {
  COMPOSE_PROJECT_NAME: project,
  // The tested spool alone, with an ingest that is nowhere.
  ...withServices(`spool: { image: ${IMAGES}-spool }`),
  ...{ SENTRY_DSN: "http://culvert@ingest:1/1", TUNNEL_PATH: "" },
};
// Two clones: the old host's and the new one's.
const folder = mkdtempSync(join(tmpdir(), "culvert-backup-"));
const tryInClone = (clone: string, command: string, settings = {}) =>
  run(["sh", "-euc", `cd '${folder}/${clone}'; ${command}`], { ...environment, ...settings });
const inClone = async (clone: string, command: string, settings = {}) => {
  const { code, output } = await tryInClone(clone, command, settings);
  expect(code, output).toBe(0);
  return output.trim();
};
const startSpool = (clone: string) => inClone(clone, "docker compose up --detach --no-build --wait spool");
/** Runs a script in the spool of a clone, and returns what it prints. */
const inSpool = (clone: string, script: string) => inClone(clone, `docker compose exec -T spool node -e '${script}'`);

async function clean() {
  for (const clone of ["old", "new"]) await tryInClone(clone, "docker compose down --volumes -t 0");
  // Compose leaves those of services that are off.
  await run(["sh", "-c", `docker volume ls --quiet --filter=name=${project} | xargs -r docker volume rm`]);
  await run(["docker", "image", "rm", `${project}-web`]);
  rmSync(folder, { recursive: true });
}
afterAll(clean);

const metrics = "fetch(`http://127.0.0.1:8082/metrics`).then((r) => r.text()).then(console.log)";
const queued = async (clone: string) =>
  /^culvert_spool_queued_envelopes(?:\{.*\})? (\d+)/m.exec(await inSpool(clone, metrics))?.[1];

/** An app in web's place, built by web's Dockerfile, which tells the key of its build: with that key, Next accepts forms of open pages. */
function writeApp(web: string) {
  const script = `// ${crypto.randomUUID()}: not what the build cache has of another run, since a secret is not part of its key.
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
  for (const clone of ["old", "new"])
    await copySources(join(folder, clone), "docker-compose.yml deploy proxy/spool proxy/Dockerfile web/Dockerfile");
  writeFileSync(join(folder, "old/.env"), "REGION=kept\n");
  const key = readFileSync(await inClone("old", "sh deploy/host/server-actions-key.sh"), "utf8");
  await startSpool("old");
  // The ingest is nowhere.
  const headers = { "x-spool-destination": "http://ingest:1/api/1/envelope/" };
  const sent = JSON.stringify({ method: "POST", headers, body: '{}\n{"type":"event"}\n{}\n' });
  await inSpool("old", `fetch("http://127.0.0.1:8082/", ${sent}).then((r) => process.exit(r.ok ? 0 : 1))`);
  await expect.poll(() => queued("old")).toBe("1");

  const backup = (file: string, client = {}) =>
    tryInClone("old", "sh deploy/host/backup.sh", { FILE: `../${file}`, ...client });
  // A docker client that interrupts the backup when it has stopped the spool.
  const client = withDocker('$client "$@" || exit; case "$*" in *"stop spool") kill -INT $PPID ;; esac');
  expect((await backup("none.tar", client)).code).toBe(130);
  expect(await queued("old")).toBe("1");

  // One that loses the end of what it writes.
  const lossy = 'case "$*" in *" tar "*" -cf "*) $client "$@" | head -c 4096 ;; *) exec $client "$@" ;; esac';
  const lost = await backup("none.tar", withDocker(lossy));
  expect([lost.code, lastLine(lost.output)]).toEqual([1, expect.stringMatching(/^culvert: backup: what was written/)]);
  expect(existsSync(join(folder, "none.tar"))).toBe(false);

  expect((await backup("backup.tar")).code).toBe(0);
  expect(await queued("old")).toBe("1");
  await inClone("old", "docker compose down --volumes -t 0");

  const restore = (file: string) => tryInClone("new", `FILE=../${file} sh deploy/host/restore.sh`);
  writeFileSync(join(folder, "part.tar"), readFileSync(join(folder, "backup.tar")).subarray(0, -20_000));
  const part = await restore("part.tar");
  expect([part.code, lastLine(part.output)]).toEqual([1, expect.stringMatching(/^culvert: FILE: .*not a whole one/)]);
  expect(await must(["docker", "volume", "ls", "--quiet", `--filter=name=${project}`])).toBe("");
  expect((await restore("backup.tar")).code).toBe(0);
  expect(readFileSync(join(folder, "new/.env"), "utf8")).toBe("REGION=kept\n");
  await startSpool("new");
  expect(await queued("new")).toBe("1");
  writeApp(join(folder, "new/web"));
  const build = `
    . deploy/lib.sh; for file in stack releases env-file build; do . deploy/host/$file.sh; done
    use_project; export_build_settings; docker compose build --quiet web`;
  await inClone("new", build, { BUILD_CA_FILE: await buildCa() });
  expect(await must(["docker", "run", "--rm", "--network=none", `${project}-web`])).toBe(key.trim());

  const again = await restore("backup.tar");
  expect(again).toEqual({ code: 1, output: expect.stringContaining("culvert: restore: there is a .env already") });
});
