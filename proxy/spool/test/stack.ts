import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { docker, hardened, label, must, type Outcome, restricted } from "../../../deploy/test/support/docker.ts";
import { build } from "../../../deploy/test/support/images.ts";
import { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import { findDoor } from "./door/find.ts";
import type { Rule, Seen } from "./ingest/types.ts";

const node = "node:24-trixie-slim";
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** A volume's options: a tmpfs that the spool's user may write. */
const inMemory = ["type=tmpfs", "device=tmpfs", "o=uid=1000,gid=1000,mode=0700"].map((option) => `--opt=${option}`);

/** As the compose file runs it: the spool needs no /tmp. */
const withoutTmp = restricted;

/** Starts the image with these settings and waits for its end; for what it must refuse. */
export async function runSpool(settings: Record<string, string>, ...args: string[]): Promise<Outcome> {
  const env = Object.entries(settings).map(([key, value]) => `--env=${key}=${value}`);
  return docker("run", "--rm", label, ...withoutTmp, ...env, ...args, await build("spool"));
}

/** The ports of the door (door/server.ts), which is in the recorder's container, and where they lead. */
const doors = { 8443: "proxy:8443", 8082: "spool:8082", 9002: "ingest:9001", 3000: "rival:3000" };
const doorsSetting = `--env=DOORS=${Object.entries(doors)
  .map((door) => door.join("="))
  .join(" ")}`;

/** A name as the SDK's `tunnelRoute` wants it. */
export const sentryName = "o1.ingest.sentry.io";

type Service = "proxy" | "spool" | "ingest" | "recorder" | "rival";

/** The spool's container, an ingest with moods, and the recorder behind it, on a network of their own. */
export interface Stack {
  id: string;
  /** The spool's address on this machine. */
  url: string;
  /** Where the proxy's TLS listener is found, and where the rival is. */
  proxy: { host: string; port: number };
  rival: { host: string; port: number };
  recorder: Recorder;
  /** Sets the ingest's moods; none: it takes everything. */
  ingest(...rules: Rule[]): Promise<void>;
  /** What reached the ingest so far, after the first `after` requests. */
  seen(after?: number): Promise<Seen[]>;
  /** Runs a docker command on one of the containers: `on("spool", "kill", "-s", "KILL")`. */
  on(service: Service, ...command: string[]): Promise<string>;
  /** Kills containers with -9, all at once, and starts them again. */
  kill(...services: Service[]): Promise<void>;
  /** Puts another spool, with these arguments for `docker run`, in the place of the one that there was. */
  replaceSpool(...args: string[]): Promise<void>;
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
  /** More for the proxy's `docker run`. */
  proxyArgs?: string[];
  /**
   * The image of an app with a tunnel of its own, and a folder with server.crt and server.key for `sentryName`, under which the
   * ingest then answers over TLS: the SDK's `tunnelRoute` serves no other. All are told to trust it.
   */
  rival?: { image: string; cert: string };
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
  const tls = cert ? [`--volume=${cert}:/cert:ro`, "--env=CERT=/cert/server"] : [];
  const { rival } = options;
  const trust = rival ? [`--volume=${rival.cert}:/cert:ro`, "--env=INGEST_CA_FILE=/cert/server.crt"] : [];
  const sentry = rival ? [`--network-alias=${sentryName}`, "--env=CERT=/cert/server", ...trust] : [];
  const names = alias ? [`--network-alias=${alias}`] : [];

  await must("network", "create", label, id);
  // In memory: how long this machine's disk takes for an fsync is not what these tests are about. The recorder mounts it too, since
  // such a volume is empty again when its last container stops.
  await must("volume", "create", label, ...inMemory, id);
  const door = [doorsSetting, ...[9001, ...Object.keys(doors)].flatMap((port) => ["-p", `127.0.0.1::${port}`])];
  const mounts = [
    `--volume=${path("../../../deploy/test/support/recorder")}:/recorder:ro`,
    `--volume=${path("door")}:/door:ro`,
    `--volume=${id}:/spool:ro`,
  ];
  const both = ["sh", "-c", "node /door/server.ts & exec node /recorder/server.ts"];
  await Promise.all([
    start("recorder", ...mounts, ...door, ...tls, ...names, node, ...both),
    start("ingest", `--volume=${path("ingest")}:/app:ro`, ...sentry, node, "node", "/app/server.ts"),
  ]);
  const dsn = settings.SENTRY_DSN ?? "http://key@ingest:9000/7";
  const env = Object.entries({ SENTRY_DSN: dsn, ...settings });
  const run = [...withoutTmp, ...env.map(([key, value]) => `--env=${key}=${value}`)];
  const startSpool = (given: string[]) => {
    const volume = given.some((arg) => arg.includes("/var/lib/spool")) ? [] : [`--volume=${id}:/var/lib/spool`];
    return start("spool", ...run, ...trust, ...volume, ...given, image);
  };
  await startSpool(args);

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
    await start("proxy", ...hardened, ...trust, ...given, ...(options.proxyArgs ?? []), await build());
  }
  if (rival) {
    const telemetry = [`--env=SENTRY_DSN=${dsn}`, "--env=NODE_EXTRA_CA_CERTS=/cert/server.crt"];
    await start("rival", ...withoutTmp, "--tmpfs=/tmp:uid=1000,mode=0700", ...trust, ...telemetry, rival.image);
  }

  const find = await findDoor(name("recorder"));
  const at = (port: number) => `http://${find(port).host}:${find(port).port}`;
  const moods = at(9002);
  const stack: Stack = {
    id,
    url: at(8082),
    proxy: find(8443),
    rival: find(3000),
    recorder: new Recorder(at(9001)),
    ingest: async (...rules) => {
      await fetch(`${moods}/rules`, { method: "PUT", body: JSON.stringify(rules) });
    },
    seen: async (after = 0) => (await (await fetch(`${moods}/seen?after=${after}`)).json()) as Seen[],
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
    stop: async () => {
      await docker("rm", "-f", "-v", ...["proxy", "spool", "web", "rival", "ingest", "recorder"].map(name));
      await docker("volume", "rm", id);
      await docker("network", "rm", id);
    },
  };
  // Answers are enough: the proxy may have asked web already.
  await until(async () => {
    await Promise.all([stack.seen(), stack.recorder.count()]);
    return true;
  }, 150_000);
  await ready(stack);
  return stack;
}

/** Waits until the spool answers its health check. */
export async function ready(stack: Stack): Promise<void> {
  const well = async () => (await fetch(`${stack.url}/healthz`)).ok;
  await until(well, 90_000).catch(async () => {
    throw new Error(`the spool did not come up: ${await stack.logs()}`);
  });
}

/** Waits until `done` says so; throws after `patience` ms. What throws, or takes 5 s, counts as not yet. */
export async function until(done: () => Promise<boolean>, patience = 90_000): Promise<void> {
  const end = Date.now() + patience;
  while (!(await Promise.race([done().catch(() => false), pause(5_000, false)]))) {
    if (Date.now() > end) throw new Error(`not within ${patience} ms: ${done}`);
    await pause(100);
  }
}
