import { setTimeout as pause } from "node:timers/promises";
import { hardened, memoryLimit, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";
import {
  addresses,
  ownPorts,
  returnTestbed,
  startRecorder,
  startService,
  type Testbed,
  type TestbedOptions,
  takeTestbed,
} from "./testbed.ts";
import { getPlain } from "./wire.ts";

type Service = "proxy" | "web" | "web2" | "ingest" | "spool";

/** The built proxy image between two recorders, `web` and `ingest`, on a network that no other proxy is on. */
export interface TestProxy {
  /** The port of the TLS listener on 127.0.0.1. */
  port: number;
  /** The port on 127.0.0.1 of another listener, if `ports` names it. */
  portOf(listener: number): number;
  web: Recorder;
  /** The second replica of web, when asked for. */
  web2?: Recorder;
  ingest: Recorder;
  /** Asks the internal port; throws unless it answers with 200. In the container, curl would take a hundred times the processor time. */
  internal(path: string): Promise<string>;
  /** Runs a docker command on one of the containers: `on("ingest", "restart")`. */
  on(service: Service, ...command: string[]): Promise<string>;
  /** Restarts a container and waits until pages come through again; a recorder forgets what it had. */
  restart(service: Service): Promise<void>;
  stop(): Promise<void>;
}

/** A shell command for the proxy's container that prints the process ids of Nginx's workers, a line each. */
export const workerPids = "grep -l '^nginx: worker' /proc/[0-9]*/cmdline | cut -d/ -f3";

/** Extra mounts (host file to path), what testbeds beside the proxy, and how it is reached. */
export interface Options extends TestbedOptions {
  mounts?: Record<string, string>;
  /** Whether a second container answers to the name `web`. */
  twoReplicas?: boolean;
  /** Further listeners to publish: 8080 is the plain one, 8083 that of web. */
  ports?: number[];
  /** Whether the spool testbeds beside the proxy. */
  spool?: boolean;
  /** Whether the proxy's memory is bounded as in the compose file. */
  memory?: boolean;
}

/**
 * Starts a proxy with these settings; SENTRY_DSN defaults to project 7 of the recording ingest, below a path prefix. Throws with the
 * proxy's log if it does not come up; nothing is left then, because Docker has few networks.
 */
export async function startProxy(settings: Record<string, string> = {}, options: Options = {}): Promise<TestProxy> {
  const testbed = await takeTestbed(options);
  return startIn(testbed, settings, options).catch(async (error) => {
    testbed.changed = true;
    await returnTestbed(testbed);
    throw error;
  });
}

async function startIn(testbed: Testbed, settings: Record<string, string>, options: Options): Promise<TestProxy> {
  const { id } = testbed;
  const image = await build();
  if (options.twoReplicas) await startRecorder(testbed, "web2", ["web"]);
  const environment: Record<string, string> = {
    SENTRY_DSN: "http://key@ingest:9000/prefix/7",
    WEB_UPSTREAM: "web:9000",
    ...settings,
  };
  if (options.spool) {
    environment.SPOOL_UPSTREAM = "spool:8082";
    const hard = hardened.filter((option) => !option.startsWith("--tmpfs"));
    const spool = await build("spool");
    await startService(id, "spool", ["spool"], ...hard, `--env=SENTRY_DSN=${environment.SENTRY_DSN}`, spool);
  }
  const env = Object.entries(environment).map(([key, value]) => `--env=${key}=${value}`);
  const volumes = Object.entries(options.mounts ?? {}).map(([file, path]) => `--volume=${file}:${path}:ro`);
  const ports = [8443, ...(options.ports ?? [])].map((port) => `--publish=127.0.0.1::${port}`);
  const bound = options.memory ? [`--memory=${memoryLimit}`, `--memory-swap=${memoryLimit}`] : [];
  await startService(
    id,
    "proxy",
    [],
    ...ports,
    ...ownPorts(testbed, 8081),
    ...bound,
    ...hardened,
    ...env,
    ...volumes,
    image,
  );

  const look = async () => {
    const at = await addresses(id, ["proxy", "web", "ingest", ...(options.twoReplicas ? ["web2"] : [])]);
    const recorder = (service: string) => new Recorder(`http://${at(service, 9001)}`);
    const portOf = (listener: number) => Number(at("proxy", listener).split(":")[1]);
    return {
      port: portOf(8443),
      portOf,
      internal: async (path: string) => {
        const { status, body } = await getPlain(`http://${at("proxy", 8081)}${path}`);
        if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
        return body;
      },
      web: recorder("web"),
      ...(options.twoReplicas && { web2: recorder("web2") }),
      ingest: recorder("ingest"),
    };
  };
  const proxy: TestProxy = {
    ...(await look()),
    on: (service, command = "", ...rest) => {
      if (service === "web" || service === "ingest") testbed.changed = true;
      return must(command, `${id}-${service}`, ...rest);
    },
    restart: async (service) => {
      await proxy.on(service, "restart", "-t", "5");
      Object.assign(proxy, await look());
      await ready(proxy);
    },
    stop: () => returnTestbed(testbed),
  };
  await ready(proxy);
  return proxy;
}

/**
 * Waits until the proxy says that it may get traffic and the recorders respond, which the proxy does not wait for, except for one web;
 * throws with its log when it does not come up.
 */
async function ready(proxy: TestProxy): Promise<void> {
  const isRunning = async () => (await proxy.on("proxy", "inspect", "--format={{.State.Running}}")) === "true";
  const begin = Date.now();
  for (let looked = begin; Date.now() < begin + 600_000; await pause(100)) {
    const isReady = await proxy.internal("/readyz").then(Boolean, () => false);
    if (isReady && (await isUp([proxy.web, proxy.web2, proxy.ingest]))) return;
    if (Date.now() < looked + 2_000) continue;
    if (!(await isRunning())) break;
    looked = Date.now();
  }
  throw new Error(`the proxy did not come up: ${await proxy.on("proxy", "logs")}`);
}

/** Whether all of these recorders respond that there are. */
const isUp = (recorders: (Recorder | undefined)[]): Promise<boolean> =>
  Promise.all(recorders.map((recorder) => recorder?.count())).then(
    () => true,
    () => false,
  );

/** Kills every worker as the kernel does without memory; returns how many there were. */
export async function killWorkers(proxy: TestProxy): Promise<number> {
  const kill = `${workerPids} | while read -r pid; do kill -9 $pid && echo killed; done`;
  return (await proxy.on("proxy", "exec", "sh", "-c", kill)).split("\n").length;
}
