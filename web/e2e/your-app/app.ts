import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root } from "../../../deploy/test/support/docker.ts";
import { buildCa, buildImage } from "../../../deploy/test/support/images.ts";
import { type Fixture, writeFixture } from "../../telemetry/cli/fixtures/apps.ts";
import { must } from "./shell.ts";

const number = 60 + Number(process.env.TEST_STACK || 0);

/** A setting that the stack gets at run time. */
export const SENTRY_ENVIRONMENT = "shop-test";

/** An app of a team: a folder in which one types commands. */
export interface App {
  origin: string;
  /** Runs a command line in the app's folder, as in a terminal: a question is answered with yes. Returns its output. */
  type(command: string): Promise<string>;
  close(): Promise<void>;
}

const cli = join(root, "web/telemetry/dist/cli/main.js");

/** The images of Culvert that an app's stack names, as a team has them: built, unless CULVERT_IMAGES says that they are there. */
const images = process.env.CULVERT_IMAGES || "culvert-your-app";

/** Builds those images. */
export async function buildImages(): Promise<void> {
  if (process.env.CULVERT_IMAGES) return;
  for (const [name, folder] of Object.entries({ proxy: "proxy", spool: "proxy/spool", ingest: "deploy/ingest" }))
    await buildImage(folder, { tag: `${images}-${name}` });
}

/** Packs the package as it is published, and returns the file. */
export async function packPackage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "culvert-package-"));
  await must(`npm pack --silent --pack-destination ${folder}`, join(root, "web/telemetry"));
  return join(folder, readdirSync(folder)[0] ?? "");
}

/**
 * Makes an app with the packed package beside it. What installs `@culvert/nextjs` from npm installs that file instead. `isQuick` writes the
 * lockfile only, which is what the image needs, and runs the CLI from this repository.
 */
export async function makeApp(fixture: Fixture, tarball: string, isQuick: boolean): Promise<App> {
  const repository = mkdtempSync(join(tmpdir(), "culvert-app-"));
  const folder = writeFixture(fixture, repository);
  copyFileSync(tarball, join(repository, "culvert-nextjs.tgz"));
  const file = join(relative(folder, repository) || ".", "culvert-nextjs.tgz");
  const isPnpm = "pnpm-lock.yaml" in fixture.files;
  const ports = { HTTPS_PORT: `${18443 + number * 10}`, HTTP_PORT: `${18080 + number * 10}` };
  const environment = () => ({
    ...ports,
    BUILD_CA_FILE: ca,
    COMPOSE_PROJECT_NAME: `culvert-test${number}`,
    // The name that init chose; the other file gives the local ingest any free port.
    COMPOSE_FILE: `${existsSync(join(repository, "culvert.compose.yml")) ? "culvert.compose.yml" : "compose.yml"}:${root}/web/e2e/readme/compose.yml`,
    CULVERT_IMAGES: images,
    SENTRY_ENVIRONMENT,
    npm_config_audit: "false",
    npm_config_prefer_offline: "true",
  });
  const ca = await buildCa();
  const docker = (command: string) => must(command, repository, environment());
  return {
    origin: `https://localhost:${ports.HTTPS_PORT}`,
    type: (command) => {
      if (command.startsWith("docker")) return docker(command);
      const install = isPnpm
        ? "npx --yes pnpm@10.34.8 add --lockfile-only"
        : `npm install${isQuick ? " --package-lock-only" : ""}`;
      const typed = command.replace(/npm install \S*culvert-nextjs\S*/, `${install} ./${file}`);
      return must(isQuick ? typed.replace("npx @culvert/nextjs", `node ${cli}`) : typed, folder, environment());
    },
    close: async () => {
      await docker("docker compose down --volumes --rmi local --timeout 0").catch(console.error);
      rmSync(repository, { recursive: true });
    },
  };
}
