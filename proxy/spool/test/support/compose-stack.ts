import { randomUUID } from "node:crypto";
import { run } from "../../../../deploy/test/support/docker.ts";
import { build, buildImage } from "../../../../deploy/test/support/images.ts";
import { Recorder } from "../../../../deploy/test/support/recorder/client.ts";
import type { Rule, Seen } from "./ingest/types.ts";
import { findPortForward } from "./port-forward/client.ts";
import { waitUntil } from "./wait.ts";

const files = ["docker-compose.yml", "proxy/spool/test/support/compose-stack.yml"];

const services = ["proxy", "spool", "recorder", "faulty-ingest"];

/** Proxy and spool as in docker-compose.yml, with a recorder as web and an ingest with fault injection. */
export interface ComposeStack {
  /** The address of the proxy's TLS listener, and that of the spool. */
  proxy: { host: string; port: number };
  url: string;
  recorder: Recorder;
  /** Sets the faults of the ingest; without rules it accepts everything. */
  ingest(...rules: Rule[]): Promise<void>;
  /** How many requests have reached the ingest. */
  seen(): Promise<number>;
  /** Runs docker compose on it and returns the output; throws with it on a non-zero exit. */
  compose(...command: string[]): Promise<string>;
  /** Replaces the proxy by one from another image, as a release does. */
  replaceProxy(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it with these settings in addition to the test's own. */
export async function startComposeStack(settings: Record<string, string> = {}): Promise<ComposeStack> {
  const project = `culvert-restarts-${randomUUID().slice(0, 8)}`;
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    CULVERT_TEST_RUN: process.env.CULVERT_TEST_RUN ?? "by-hand",
    COMPOSE_ENV_FILES: "/dev/null",
    SENTRY_DSN: "http://key@faulty-ingest:9000/7",
    PROXY_IMAGE: await build(),
    SPOOL_IMAGE: await build("spool"),
    ...settings,
  };
  const compose = async (...command: string[]) => {
    const all = ["compose", "-p", project, ...files.flatMap((file) => ["-f", file]), ...command];
    const { code, output } = await run("docker", all, environment);
    if (code !== 0) throw new Error(`docker ${all.join(" ")}: ${output}`);
    return output;
  };
  // Without web, which the recorder replaces.
  const up = () => compose("up", "-d", "--no-build", "--no-deps", ...services);
  await up();
  const find = await findPortForward((await compose("ps", "-q", "recorder")).trim());
  const at = (port: number) => `http://${find(port).host}:${find(port).port}`;
  const faults = at(9002);
  const stack: ComposeStack = {
    proxy: find(8443),
    url: at(8082),
    recorder: new Recorder(at(9001)),
    ingest: async (...rules) => {
      await fetch(`${faults}/rules`, { method: "PUT", body: JSON.stringify(rules) });
    },
    seen: async () => ((await (await fetch(`${faults}/seen`)).json()) as Seen[]).length,
    compose,
    replaceProxy: async () => {
      const tag = `${project}-proxy`;
      environment.PROXY_IMAGE = tag;
      await buildImage("proxy", { tag, labels: { "culvert.release": randomUUID() } });
      await up();
    },
    stop: async () => {
      await compose("down", "--volumes", "-t", "0");
      await run("docker", ["image", "rm", `${project}-proxy`], environment);
    },
  };
  const answers = async (address: string) => (await fetch(address)).ok;
  await waitUntil(() => answers(`${faults}/seen`));
  await waitUntil(() => answers(`${stack.url}/healthz`));
  return stack;
}
