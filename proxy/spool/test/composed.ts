import { randomUUID } from "node:crypto";
import { run } from "../../../deploy/test/support/docker.ts";
import { build, buildImage } from "../../../deploy/test/support/images.ts";
import { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { findDoor } from "./door/find.ts";
import type { Rule, Seen } from "./ingest/types.ts";
import { until } from "./stack.ts";

const files = ["docker-compose.yml", "proxy/spool/test/restarts.compose.yml"];

const services = ["proxy", "spool", "recorder", "ingest-with-moods"];

/** Proxy and spool as docker-compose.yml runs them, between a recorder as web and an ingest with moods. */
export interface Composed {
  /** Where the proxy's TLS listener is found, and the spool's address. */
  proxy: { host: string; port: number };
  url: string;
  recorder: Recorder;
  /** Sets the ingest's moods; none: it takes everything. */
  ingest(...rules: Rule[]): Promise<void>;
  /** How many requests reached the ingest so far. */
  seen(): Promise<number>;
  /** Runs docker compose on it and returns the output; throws with it on a non-zero exit. */
  compose(...command: string[]): Promise<string>;
  /** Starts the proxy anew from an image that differs from the one before, as a release does. */
  replaceProxy(): Promise<void>;
  stop(): Promise<void>;
}

/** Brings it up with these settings on top of the test's own. */
export async function startComposed(settings: Record<string, string> = {}): Promise<Composed> {
  const project = `culvert-restarts-${randomUUID().slice(0, 8)}`;
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    CULVERT_TEST_RUN: process.env.CULVERT_TEST_RUN ?? "by-hand",
    COMPOSE_ENV_FILES: "/dev/null",
    SENTRY_DSN: "http://key@ingest-with-moods:9000/7",
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
  // Without web: the recorder stands for it.
  const up = () => compose("up", "-d", "--no-build", "--no-deps", ...services);
  await up();
  const find = await findDoor((await compose("ps", "-q", "recorder")).trim());
  const at = (port: number) => `http://${find(port).host}:${find(port).port}`;
  const moods = at(9002);
  const composed: Composed = {
    proxy: find(8443),
    url: at(8082),
    recorder: new Recorder(at(9001)),
    ingest: async (...rules) => {
      await fetch(`${moods}/rules`, { method: "PUT", body: JSON.stringify(rules) });
    },
    seen: async () => ((await (await fetch(`${moods}/seen`)).json()) as Seen[]).length,
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
  await until(() => answers(`${moods}/seen`));
  await until(() => answers(`${composed.url}/healthz`));
  return composed;
}
