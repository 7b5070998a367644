import { outputOf, root, run } from "../../deploy/test/support/docker.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";

function port(name: string): number {
  const value = Number(process.env[name]);
  if (!value) throw new Error(`${name} is not set: start the stack and these tests with deploy/test/run.sh`);
  return value;
}

export const app = {
  origin: `https://localhost:${port("HTTPS_PORT")}`,
  tunnel: process.env.TUNNEL_PATH || "/monitoring",
};

export const upstream = new Recorder(`http://127.0.0.1:${port("UPSTREAM_PORT")}`);

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

export async function must(command: string, environment = process.env): Promise<string> {
  const [file = "", ...words] = command.split(" ");
  return outputOf([command], await run(file, words, environment));
}

/** Makes git clone this repository where documents clone Culvert's. */
export const cloneThis = {
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: `url.${root}.insteadOf`,
  GIT_CONFIG_VALUE_0: "https://github.com/culvert/culvert",
};

/** Waits for a line that `matches` in the local ingest's stream of envelopes, which begins with its oldest one. */
export async function lineAt(ingest: string, matches: (line: string) => boolean): Promise<string> {
  const { body } = await fetch(`${ingest}/stream`, { signal: AbortSignal.timeout(600_000) });
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (text + chunk).split("\n");
    text = lines.pop() ?? "";
    const found = lines.find(matches);
    if (found) return found;
  }
  throw new Error("the stream has ended");
}

export const arrivedAt = (ingest: string, ...words: string[]): Promise<string> =>
  lineAt(ingest, (line) => words.every((word) => line.includes(word)));
