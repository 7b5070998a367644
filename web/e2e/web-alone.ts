import { randomUUID } from "node:crypto";
import { docker, label, must, recorderArguments, restricted } from "../../deploy/test/support/docker.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";
import { expect } from "./fixtures.ts";

/** The image of web that the stack under test runs. */
export const webImage = `${process.env.COMPOSE_PROJECT_NAME}-web`;

/** Starts the app with a setting, beside the stack, and a recorder as its ingest and upstream. */
export async function startWeb(setting: string) {
  const id = `culvert-e2e-${randomUUID().slice(0, 8)}`;
  await must("network", "create", label, id);
  const start = async (name: string, port: string, ...args: string[]) => {
    const place = [label, `--name=${id}-${name}`, `--network=${id}`, `--network-alias=${name}`];
    await must("run", "-d", ...place, `-p=127.0.0.1::${port}`, ...args);
    return `http://${await must("port", `${id}-${name}`, port)}`;
  };
  const settings = [setting, "SENTRY_DSN=http://culvert@recorder:9000/1", "UPSTREAM_URL=http://recorder:9000/upstream"];
  const env = settings.map((one) => `--env=${one}`);
  const recorder = new Recorder(await start("recorder", "9001", ...recorderArguments()));
  const web = await start("web", "3000", ...restricted, "--tmpfs=/tmp:uid=1000,mode=0700", ...env, webImage);
  await expect(() => Promise.all([fetch(`${web}/healthz`), recorder.count()])).toPass();
  return {
    web,
    recorder,
    /** On SIGTERM, web sends all events that it has buffered. */
    stop: () => must("stop", "-t", "15", `${id}-web`),
    close: async () => {
      await docker("rm", "-f", "-v", `${id}-web`, `${id}-recorder`);
      await docker("network", "rm", id);
    },
  };
}
