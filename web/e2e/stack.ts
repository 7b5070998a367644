import { run } from "../../deploy/test/support/docker.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";

function port(name: string): number {
  const value = Number(process.env[name]);
  if (!value) throw new Error(`${name} is not set: start the stack and these tests with deploy/test/run.sh`);
  return value;
}

/** The addresses of the stack under test, as deploy/test/stack.sh started it. */
export const app = {
  origin: `https://localhost:${port("HTTPS_PORT")}`,
  tunnel: process.env.TUNNEL_PATH || "/monitoring",
};

/** The API that web calls. */
export const upstream = new Recorder(`http://127.0.0.1:${port("UPSTREAM_PORT")}`);

/** The ingest, which records everything that it receives. */
export const recorder = new Recorder(`http://127.0.0.1:${port("RECORDER_PORT")}`);

/** The environment of another stack, without the settings of the tests' own. `offset`: as in deploy/test/run.sh. */
export function otherStack(offset: number, settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const number = offset + Number(process.env.TEST_STACK || 0);
  const isForeign =
    /^(?:COMPOSE_|SENTRY_|TUNNEL_PATH|CONSOLE|REGION|UPSTREAM_URL|CONTENT_SECURITY_POLICY|WEB_IMAGE|WEB_EGRESS)/;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isForeign.test(name))),
    COMPOSE_PROJECT_NAME: `culvert-test${number}`,
    COMPOSE_ENV_FILES: "/dev/null",
    HTTPS_PORT: `${18443 + number * 10}`,
    HTTP_PORT: `${18080 + number * 10}`,
    RECORDER_PORT: `${19001 + number * 10}`,
    ...settings,
  };
}

/** Runs a command line in the repository, and returns its output; throws with it if it fails. */
export async function must(command: string, environment = process.env, ...args: string[]): Promise<string> {
  const [file = "", ...words] = command.split(" ");
  const { code, output } = await run(file, [...words, ...args], environment);
  if (code !== 0) throw new Error(`${command}: ${output}`);
  return output.trim();
}
