import { docker } from "../../deploy/test/support/docker.ts";

/** A container of a service of the stack under test: its id. A release renames web's container. */
async function containerOf(service: string): Promise<string> {
  const labels = [
    `com.docker.compose.project=${process.env.COMPOSE_PROJECT_NAME}`,
    `com.docker.compose.service=${service}`,
    // Images that compose built have the two labels above as well, and so has every container of them.
    "com.docker.compose.container-number",
  ];
  const { output } = await docker("ps", "-aq", ...labels.map((label) => `--filter=label=${label}`));
  const [id] = output.trim().split("\n");
  if (!id) throw new Error(`service ${service} has no container`);
  return id;
}

/** Runs a docker command on a service's container: `on("proxy", "stop")`. Returns its output; throws with it when it fails. */
export async function on(service: string, ...command: string[]): Promise<string> {
  const { code, output } = await docker(...command, await containerOf(service));
  if (code !== 0) throw new Error(output);
  return output.trim();
}

/** Runs a program in a service's container; returns its output and exit code. */
export async function inside(service: string, ...program: string[]) {
  return docker("exec", await containerOf(service), ...program);
}
