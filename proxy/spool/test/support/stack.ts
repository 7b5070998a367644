import { randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { docker, hardened, isLocal, label, must, restricted, root } from "../../../../deploy/test/support/docker.ts";
import { build } from "../../../../deploy/test/support/images.ts";
import { Recorder } from "../../../../deploy/test/support/recorder/client.ts";
import type { Rule, Seen } from "./ingest.ts";

/** Waits until `condition` is true; throws after `timeoutMs`. A condition that throws, or takes 5 s, counts as false. */
export async function waitUntil(condition: () => Promise<boolean>, timeoutMs = 600_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await Promise.race([condition().catch(() => false), sleep(5_000, false)]))) {
    if (Date.now() > end) throw new Error(`not within ${timeoutMs} ms: ${condition}`);
    await sleep(100);
  }
}

/** A folder that containers can read, until this process ends. */
export function publicFolder(): string {
  const folder = mkdtempSync(`${tmpdir()}/culvert-`);
  chmodSync(folder, 0o755);
  process.once("exit", () => rmSync(folder, { recursive: true }));
  return folder;
}

const node = "node:24-trixie-slim";

const inMemory = ["type=tmpfs", "device=tmpfs", "o=size=256m,uid=1000,gid=1000,mode=0700"].map((opt) => `--opt=${opt}`);

/** port-forward.ts */
const forwards =
  "8443=proxy:8443 8082=spool:8082 8083=spool2:8082 9002=ingest:9001 3000=next:3000 3001=node:3000".split(" ");

const services = ["proxy", "spool", "spool2", "next", "node", "ingest", "recorder"] as const;
type Service = (typeof services)[number];

function grace(service: Service): string {
  const compose = readFileSync(`${root}/docker-compose.yml`, "utf8");
  const period = new RegExp(`\\n  ${service}:\\n(?:    .*\\n|\\n)*?    stop_grace_period: (\\d+)s\\n`).exec(compose);
  return `--stop-timeout=${period?.[1]}`;
}

export interface Options {
  /** For the spool. The stack's volume is mounted unless these mount another on /var/lib/spool. */
  args?: string[];
  /** A folder with server.crt and server.key, and a further name of the ingest: it then speaks TLS on 443, too. */
  tls?: { cert: string; name: string };
  /** For a proxy, with the recorder as web. */
  proxy?: string[];
  replica?: boolean;
  /** Images of a Next app and a Node server with tunnels of their own. All containers then trust the ingest's certificate. */
  rivals?: { next: string; node: string };
}

/** The spool, an ingest with fault injection, and a recorder behind it, in containers on their own network. */
export type Stack = Awaited<ReturnType<typeof startIn>>;

/** Starts a stack with these settings; the DSN is by default that of its ingest. Leaves nothing if it throws. */
export async function startStack(settings: Record<string, string> = {}, options: Options = {}): Promise<Stack> {
  const id = `culvert-spool-${randomUUID().slice(0, 8)}`;
  return startIn(id, settings, options).catch(async (error) => {
    await remove(id);
    throw error;
  });
}

async function remove(id: string): Promise<void> {
  await docker("rm", "-f", "-v", ...services.map((service) => `${id}-${service}`));
  await docker("volume", "rm", id, `${id}-2`);
  await docker("network", "rm", id);
}

async function startIn(id: string, settings: Record<string, string>, options: Options) {
  const { args = [], tls, rivals } = options;
  const name = (service: Service) => `${id}-${service}`;
  const start = (service: Service, ...rest: string[]) =>
    must("run", "-d", label, `--name=${name(service)}`, `--network=${id}`, `--network-alias=${service}`, ...rest);
  const environment = (values: Record<string, string>) =>
    Object.entries(values).map(([key, value]) => `--env=${key}=${value}`);
  const mounted = tls ? [`--volume=${tls.cert}:/cert:ro`] : [];
  const speaksTls = tls ? [...mounted, `--network-alias=${tls.name}`, "--env=CERT=/cert/server"] : [];
  const trust = rivals ? [...mounted, "--env=INGEST_CA_FILE=/cert/server.crt"] : [];

  const isDirect = isLocal(await must("network", "create", label, id));
  // In memory, so that the tests do not depend on the disk's fsync time. The recorder mounts it too, because a tmpfs volume is
  // emptied when its last container stops.
  const volumes = options.replica ? [id, `${id}-2`] : [id];
  for (const volume of volumes) await must("volume", "create", label, ...inMemory, volume);
  const ports = ["9001", ...forwards].map((forward) => `--publish=127.0.0.1::${forward.split("=")[0]}`);
  const held = volumes.map((volume) => `--volume=${volume}:/held/${volume}:ro`);
  const sources = `--volume=${root}:/culvert:ro`;
  const support = "/culvert/proxy/spool/test/support";
  const server = "/culvert/deploy/test/support/recorder/server.ts";
  const both = `node ${support}/port-forward.ts ${forwards.join(" ")} & exec node ${server}`;
  await Promise.all([
    start("recorder", sources, ...held, ...(isDirect ? [] : ports), node, "sh", "-c", both),
    start("ingest", sources, ...speaksTls, node, "node", `${support}/ingest.ts`),
  ]);
  const SENTRY_DSN = settings.SENTRY_DSN ?? "http://key@ingest:9000/7";
  const spools = "spools:8082";
  const shared = environment(options.replica ? { SPOOL_UPSTREAM: spools } : {});
  const startSpool = async (given: string[], service: Service = "spool") => {
    const mount = given.some((arg) => arg.includes("/var/lib/spool")) ? [] : [`--volume=${id}:/var/lib/spool`];
    const run = [...restricted, grace("spool"), ...environment({ SENTRY_DSN, ...settings }), ...shared, ...trust];
    return start(service, ...run, "--network-alias=spools", ...mount, ...given, await build("spool"));
  };
  await startSpool(args);
  if (options.replica) await startSpool([`--volume=${id}-2:/var/lib/spool`], "spool2");

  if (options.proxy) {
    const upstreams = { SPOOL_UPSTREAM: spools, SPOOL_FALLBACK_UPSTREAM: options.replica ? spools : "" };
    const given = { SENTRY_DSN, ...upstreams, WEB_UPSTREAM: "recorder:9000", TUNNEL_RATE_PER_CLIENT: "10000" };
    const run = [...hardened, grace("proxy"), ...trust, ...environment(given), ...options.proxy];
    await start("proxy", ...run, await build());
  }
  if (rivals) {
    const telemetry = environment({ SENTRY_DSN, NODE_EXTRA_CA_CERTS: "/cert/server.crt" });
    const run = [...restricted, "--tmpfs=/tmp:uid=1000,mode=0700", ...trust, ...telemetry];
    await Promise.all((["next", "node"] as const).map((service) => start(service, ...run, rivals[service])));
  }

  // By the container's own address if possible: Docker's port forwarding has been seen to stop under load.
  const format = "--format={{json .NetworkSettings.Ports}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
  const [mapped = "", address = ""] = (await must("inspect", format, name("recorder"))).split(" ");
  const find = (port: number) =>
    isDirect
      ? { host: address, port }
      : { host: "127.0.0.1", port: Number(JSON.parse(mapped)[`${port}/tcp`]?.[0].HostPort) };
  const at = (port: number) => `http://${find(port).host}:${find(port).port}`;
  const stack = {
    id,
    url: at(8082),
    urls: options.replica ? [at(8082), at(8083)] : [at(8082)],
    proxy: find(8443),
    next: find(3000),
    node: find(3001),
    recorder: new Recorder(at(9001)),
    /** Sets the faults of the ingest; without rules it accepts everything. */
    ingest: async (...rules: Rule[]) => {
      await fetch(`${at(9002)}/rules`, { method: "PUT", body: JSON.stringify(rules) });
    },
    /** The requests that reached the ingest, without the first `after`. */
    seen: async (after = 0) => (await (await fetch(`${at(9002)}/seen?after=${after}`)).json()) as Seen[],
    on: (service: Service, command: string, ...rest: string[]) => must(command, ...rest, name(service)),
    kill: async (...killed: Service[]) => {
      const containers = killed.map(name);
      await must("kill", "-s", "KILL", ...containers);
      await must("wait", ...containers);
      await must("start", ...containers);
    },
    replaceSpool: async (...given: string[]) => {
      await must("rm", "-f", "-v", name("spool"));
      await startSpool(given);
      await stack.ready();
    },
    ready: () =>
      waitUntil(async () => (await fetch(`${at(8082)}/healthz`)).ok, 300_000).catch(async () => {
        throw new Error(`the spool did not start: ${await stack.logs()}`);
      }),
    inside: (line: string, service: Service = "spool") => must("exec", name(service), "sh", "-c", line),
    logs: async (service: Service = "spool") => (await docker("logs", name(service))).output,
    stop: () => remove(id),
  };
  // The number of requests does not matter: the proxy may have sent some already.
  await waitUntil(async () => Boolean(await Promise.all([stack.seen(), stack.recorder.count()])));
  await stack.ready();
  return stack;
}

export const onVolume = (mount: string, line: string): Promise<string> =>
  must("run", "--rm", label, "--network=none", mount, node, "sh", "-c", `cd /var/lib/spool; ${line}`);
