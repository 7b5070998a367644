import { docker, label, must, type Outcome, restricted } from "../../../../deploy/test/support/docker.ts";
import { build } from "../../../../deploy/test/support/images.ts";

/** Runs the image with these settings until it ends, for settings that it must reject. */
export async function runSpool(settings: Record<string, string>, ...args: string[]): Promise<Outcome> {
  const env = Object.entries(settings).map(([key, value]) => `--env=${key}=${value}`);
  return docker("run", "--rm", label, "--network=none", ...restricted, ...env, ...args, await build("spool"));
}

/** Runs a shell line as root in the spool's volume, which `mount` mounts. */
export const onVolume = (mount: string, line: string): Promise<string> =>
  must("run", "--rm", label, "--network=none", mount, "node:24-trixie-slim", "sh", "-c", `cd /var/lib/spool; ${line}`);
