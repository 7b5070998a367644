import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { docker, hardened, isLocal, label, must, restricted } from "../../../../deploy/test/support/docker.ts";
import { build } from "../../../../deploy/test/support/images.ts";
import { Recorder } from "../../../../deploy/test/support/recorder/client.ts";
import type { Rule, Seen } from "./ingest/types.ts";
import { findPortForward } from "./port-forward/client.ts";
import { waitUntil } from "./wait.ts";

const node = "node:24-trixie-slim";
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Volume options: a tmpfs that the spool's user can write to. */
const inMemory = ["type=tmpfs", "device=tmpfs", "o=uid=1000,gid=1000,mode=0700"].map((option) => `--opt=${option}`);

/** The ports that the recorder's container forwards (port-forward/server.ts), and their targets. */
const forwards = { 8443: "proxy:8443", 8082: "spool:8082", 9002: "ingest:9001", 3000: "rival:3000" };
const forwardsSetting = `--env=PORT_FORWARDS=${Object.entries(forwards)
  .map((forward) => forward.join("="))
  .join(" ")}`;

/** An ingest name that the SDK's `tunnelRoute` accepts. */
export const sentryName = "o1.ingest.sentry.io";

type Service = "proxy" | "spool" | "ingest" | "recorder" | "rival";

/** The spool, an ingest with fault injection, and a recorder behind it, in containers on their own network. */
export interface Stack {
  id: string;
  /** The spool's address on this machine. */
  url: string;
  /** The addresses of the proxy's TLS listener and of the rival. */
  proxy: { host: string; port: number };
  rival: { host: string; port: number };
  recorder: Recorder;
  /** Sets the faults of the ingest; without rules it accepts everything. */
  ingest(...rules: Rule[]): Promise<void>;
  /** The requests that reached the ingest, without the first `after`. */
  seen(after?: number): Promise<Seen[]>;
  /** Runs a docker command on one of the containers: `on("spool", "kill", "-s", "KILL")`. */
  on(service: Service, ...command: string[]): Promise<string>;
  /** Kills containers with SIGKILL, all at once, and starts them again. */
  kill(...services: Service[]): Promise<void>;
  /** Replaces the spool by one with these arguments for `docker run`. */
  replaceSpool(...args: string[]): Promise<void>;
  /** Runs a shell line inside the spool's container. */
  inside(line: string): Promise<string>;
  logs(): Promise<string>;
  stop(): Promise<void>;
}

export interface Options {
  /** Arguments for the spool's `docker run`. The stack's volume is mounted unless they mount another on /var/lib/spool. */
  args?: string[];
  /** A folder with server.crt and server.key: the recorder speaks TLS on 9443. */
  cert?: string;
  /** Another network name of the recorder. */
  name?: string;
  /** Whether to start the proxy, with the recorder as web. */
  proxy?: boolean;
  /** The image of a web to start behind the proxy instead. */
  web?: string;
  /** Arguments for the proxy's `docker run`. */
  proxyArgs?: string[];
  /**
   * The image of an app with its own tunnel, and a folder with server.crt and server.key for `sentryName`. The ingest then answers
   * under that name over TLS, as the SDK's `tunnelRoute` requires, and all containers trust the certificate.
   */
  rival?: { image: string; cert: string };
}

/** Starts a stack with these settings; the DSN is by default that of its ingest. Leaves nothing if it throws. */
export async function startStack(settings: Record<string, string> = {}, options: Options = {}): Promise<Stack> {
  const id = `culvert-spool-${randomUUID().slice(0, 8)}`;
  return startIn(id, settings, options).catch(async (error) => {
    await remove(id);
    throw error;
  });
}

/** Removes the network and the volume with this name, and their containers. */
async function remove(id: string): Promise<void> {
  const services = ["proxy", "spool", "web", "rival", "ingest", "recorder"];
  await docker("rm", "-f", "-v", ...services.map((service) => `${id}-${service}`));
  await docker("volume", "rm", id);
  await docker("network", "rm", id);
}

async function startIn(id: string, settings: Record<string, string>, options: Options): Promise<Stack> {
  const { args = [], cert, name: alias } = options;
  const image = await build("spool");
  const name = (service: string) => `${id}-${service}`;
  const start = (service: string, ...rest: string[]) =>
    must(...["run", "-d", label, `--name=${name(service)}`], ...common(service), ...rest);
  const common = (service: string) => [`--network=${id}`, `--network-alias=${service}`];
  const tls = cert ? [`--volume=${cert}:/cert:ro`, "--env=CERT=/cert/server"] : [];
  const { rival } = options;
  const trust = rival ? [`--volume=${rival.cert}:/cert:ro`, "--env=INGEST_CA_FILE=/cert/server.crt"] : [];
  const sentry = rival ? [`--network-alias=${sentryName}`, "--env=CERT=/cert/server", ...trust] : [];
  const names = alias ? [`--network-alias=${alias}`] : [];

  const network = await must("network", "create", label, id);
  // In memory, so that the tests do not depend on the disk's fsync time. The recorder mounts it too, because a tmpfs volume is
  // emptied when its last container stops.
  await must("volume", "create", label, ...inMemory, id);
  const published = isLocal(network)
    ? []
    : [9001, ...Object.keys(forwards)].flatMap((port) => ["-p", `127.0.0.1::${port}`]);
  const ports = [forwardsSetting, ...published];
  const mounts = [
    `--volume=${path("../../../../deploy/test/support/recorder")}:/recorder:ro`,
    `--volume=${path("port-forward")}:/port-forward:ro`,
    `--volume=${id}:/spool:ro`,
  ];
  const both = ["sh", "-c", "node /port-forward/server.ts & exec node /recorder/server.ts"];
  await Promise.all([
    start("recorder", ...mounts, ...ports, ...tls, ...names, node, ...both),
    start("ingest", `--volume=${path("ingest")}:/app:ro`, ...sentry, node, "node", "/app/server.ts"),
  ]);
  const dsn = settings.SENTRY_DSN ?? "http://key@ingest:9000/7";
  const env = Object.entries({ SENTRY_DSN: dsn, ...settings });
  const run = [...restricted, ...env.map(([key, value]) => `--env=${key}=${value}`)];
  const startSpool = (given: string[]) => {
    const volume = given.some((arg) => arg.includes("/var/lib/spool")) ? [] : [`--volume=${id}:/var/lib/spool`];
    return start("spool", ...run, ...trust, ...volume, ...given, image);
  };
  await startSpool(args);

  if (options.web) {
    const telemetry = [`SENTRY_DSN=${dsn}`, "TUNNEL_PATH=/monitoring", "CONSOLE=on", "SENTRY_TRACES_SAMPLE_RATE=0"].map(
      (one) => `--env=${one}`,
    );
    await start("web", ...restricted, "--tmpfs=/tmp:uid=1000,mode=0700", ...telemetry, options.web);
  }
  if (options.proxy) {
    const addresses = [
      `SENTRY_DSN=${dsn}`,
      "SPOOL_UPSTREAM=spool:8082",
      `WEB_UPSTREAM=${options.web ? "web:3000" : "recorder:9000"}`,
    ];
    const rates = ["TUNNEL_RATE_PER_CLIENT=10000"];
    const given = [...addresses, ...rates].map((one) => `--env=${one}`);
    await start("proxy", ...hardened, ...trust, ...given, ...(options.proxyArgs ?? []), await build());
  }
  if (rival) {
    const telemetry = [`--env=SENTRY_DSN=${dsn}`, "--env=NODE_EXTRA_CA_CERTS=/cert/server.crt"];
    await start("rival", ...restricted, "--tmpfs=/tmp:uid=1000,mode=0700", ...trust, ...telemetry, rival.image);
  }

  const find = await findPortForward(name("recorder"));
  const at = (port: number) => `http://${find(port).host}:${find(port).port}`;
  const faults = at(9002);
  const stack: Stack = {
    id,
    url: at(8082),
    proxy: find(8443),
    rival: find(3000),
    recorder: new Recorder(at(9001)),
    ingest: async (...rules) => {
      await fetch(`${faults}/rules`, { method: "PUT", body: JSON.stringify(rules) });
    },
    seen: async (after = 0) => (await (await fetch(`${faults}/seen?after=${after}`)).json()) as Seen[],
    on: (service, command = "", ...rest) => must(command, ...rest, name(service)),
    kill: async (...services) => {
      const names = services.map(name);
      await must("kill", "-s", "KILL", ...names);
      await must("wait", ...names);
      await must("start", ...names);
    },
    replaceSpool: async (...given) => {
      await must("rm", "-f", "-v", name("spool"));
      await startSpool(given);
    },
    inside: (line) => must("exec", name("spool"), "sh", "-c", line),
    logs: async () => (await docker("logs", name("spool"))).output,
    stop: () => remove(id),
  };
  // The number of requests does not matter: the proxy may have sent some already.
  await waitUntil(async () => {
    await Promise.all([stack.seen(), stack.recorder.count()]);
    return true;
  }, 600_000);
  await waitUntilReady(stack);
  return stack;
}

/** Waits until the spool answers its health check. */
export async function waitUntilReady(stack: Stack): Promise<void> {
  const isHealthy = async () => (await fetch(`${stack.url}/healthz`)).ok;
  await waitUntil(isHealthy).catch(async () => {
    throw new Error(`the spool did not start: ${await stack.logs()}`);
  });
}
