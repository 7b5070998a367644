import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build, docker, hardened, label, type Outcome } from "../../test/image.ts";
import { Recorder } from "../../test/recorder/client.ts";
import type { Rule, Seen } from "./ingest/types.ts";

const node = "node:24-trixie-slim";
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** As the compose file runs it: the spool needs no /tmp. */
const withoutTmp = hardened.filter((option) => !option.startsWith("--tmpfs"));

/** Runs docker and returns its output; throws with it on a non-zero exit. */
export async function must(...args: string[]): Promise<string> {
  const { code, output } = await docker(...args);
  if (code !== 0) throw new Error(`docker ${args.join(" ")}: ${output}`);
  return output.trim();
}

/** Starts the image with these settings and waits for its end; for what it must refuse. */
export async function runSpool(settings: Record<string, string>, ...args: string[]): Promise<Outcome> {
  const env = Object.entries(settings).map(([key, value]) => `--env=${key}=${value}`);
  return docker("run", "--rm", label, ...withoutTmp, ...env, ...args, await build("spool"));
}

/** The spool's container, an ingest with moods, and the recorder behind it, on a network of their own. */
export interface Stack {
  id: string;
  /** The spool's address on this machine: a start may change it. */
  url(): Promise<string>;
  /** The proxy's TLS port on this machine: a start may change it. */
  port(): Promise<number>;
  recorder: Recorder;
  /** Sets the ingest's moods; none: it takes everything. */
  ingest(...rules: Rule[]): Promise<void>;
  /** What reached the ingest so far, after the first `after` requests. */
  seen(after?: number): Promise<Seen[]>;
  /** Runs a docker command on one of the containers: `on("spool", "kill", "-s", "KILL")`. */
  on(service: "proxy" | "spool" | "ingest" | "recorder", ...command: string[]): Promise<string>;
  /** Runs a shell line inside the spool's container. */
  inside(line: string): Promise<string>;
  logs(): Promise<string>;
  stop(): Promise<void>;
}

/** More for the spool's `docker run` (a volume is mounted unless it brings its own /var/lib/spool), and for the recorder. */
export interface Options {
  args?: string[];
  /** A folder with server.crt and server.key: the recorder speaks TLS on 9443. */
  cert?: string;
  /** One more name of the recorder. */
  name?: string;
  /** Whether the proxy stands in front, with the recorder as web. */
  proxy?: boolean;
  /** The image of a web to stand behind the proxy instead. */
  web?: string;
  /** Whether the spool is not expected to come up. */
  broken?: boolean;
}

/** Starts a stack with these settings on top of a DSN that leads to the ingest. */
export async function startStack(settings: Record<string, string> = {}, options: Options = {}): Promise<Stack> {
  const { args = [], cert, name: alias } = options;
  const image = await build("spool");
  const id = `culvert-spool-${randomUUID().slice(0, 8)}`;
  const name = (service: string) => `${id}-${service}`;
  const start = (service: string, ...rest: string[]) =>
    must(...["run", "-d", label, `--name=${name(service)}`], ...common(service), ...rest);
  const common = (service: string) => [`--network=${id}`, `--network-alias=${service}`];
  const published = async (service: string, port: number) =>
    `http://127.0.0.1:${(await must("port", name(service), String(port))).split("\n")[0]?.split(":").at(-1)}`;
  const script = (service: string, folder: string, ...more: string[]) =>
    start(service, "-p", "127.0.0.1::9001", `--volume=${folder}:/app:ro`, ...more, node, "node", "/app/server.ts");
  const tls = cert ? [`--volume=${cert}:/cert:ro`, "--env=CERT=/cert/server"] : [];
  const names = alias ? [`--network-alias=${alias}`] : [];

  await must("network", "create", label, id);
  await Promise.all([
    script("recorder", path("../../test/recorder"), ...tls, ...names),
    script("ingest", path("ingest")),
  ]);
  const dsn = settings.SENTRY_DSN ?? "http://key@ingest:9000/7";
  const env = Object.entries({ SENTRY_DSN: dsn, ...settings });
  const volume = args.some((arg) => arg.includes("/var/lib/spool")) ? [] : [`--volume=${id}:/var/lib/spool`];
  const run = [...withoutTmp, ...volume, ...env.map(([key, value]) => `--env=${key}=${value}`), ...args];
  await start("spool", "-p", "127.0.0.1::8082", ...run, image);

  if (options.web) {
    const telemetry = [`SENTRY_DSN=${dsn}`, "CONSOLE=on", "SENTRY_TRACES_SAMPLE_RATE=0"].map((one) => `--env=${one}`);
    await start("web", ...withoutTmp, "--tmpfs=/tmp:uid=1000,mode=0700", ...telemetry, options.web);
  }
  if (options.proxy) {
    const addresses = [
      `SENTRY_DSN=${dsn}`,
      "SPOOL_UPSTREAM=spool:8082",
      `WEB_UPSTREAM=${options.web ? "web:3000" : "recorder:9000"}`,
    ];
    const rates = ["TUNNEL_RATE_PER_CLIENT=10000", "TUNNEL_RATE_TOTAL=10000"];
    const given = [...addresses, ...rates].map((one) => `--env=${one}`);
    await start("proxy", "-p", "127.0.0.1::8443", ...hardened, ...given, await build());
  }

  const moods = () => published("ingest", 9001);
  const stack: Stack = {
    id,
    url: () => published("spool", 8082),
    port: async () => Number((await published("proxy", 8443)).split(":").at(-1)),
    recorder: new Recorder(await published("recorder", 9001)),
    ingest: async (...rules) => {
      await fetch(`${await moods()}/rules`, { method: "PUT", body: JSON.stringify(rules) });
    },
    seen: async (after = 0) => (await (await fetch(`${await moods()}/seen?after=${after}`)).json()) as Seen[],
    on: (service, command = "", ...rest) => must(command, ...rest, name(service)),
    inside: (line) => must("exec", name("spool"), "sh", "-c", line),
    logs: async () => (await docker("logs", name("spool"))).output,
    stop: async () => {
      await docker("rm", "-f", "-v", ...["proxy", "spool", "web", "ingest", "recorder"].map(name));
      await docker("volume", "rm", id);
      await docker("network", "rm", id);
    },
  };
  await until(async () => (await stack.seen()).length === 0 && (await stack.recorder.count()) === 0);
  if (!options.broken) await ready(stack);
  return stack;
}

/** Waits until the spool answers its health check. */
export async function ready(stack: Stack): Promise<void> {
  const well = async () => (await fetch(`${await stack.url()}/healthz`)).ok;
  await until(well, 20_000).catch(async () => {
    throw new Error(`the spool did not come up: ${await stack.logs()}`);
  });
}

/** Waits until `done` says so; throws after `patience` ms. What throws, or takes 5 s, counts as not yet. */
export async function until(done: () => Promise<boolean>, patience = 30_000): Promise<void> {
  const end = Date.now() + patience;
  while (!(await Promise.race([done().catch(() => false), pause(5_000, false)]))) {
    if (Date.now() > end) throw new Error(`not within ${patience} ms: ${done}`);
    await pause(100);
  }
}
