import { setTimeout as pause } from "node:timers/promises";
import { hardened, memoryLimit, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";
import { addresses, returnTestbed, startRecorder, startService, startSilent, takeTestbed } from "./testbed.ts";
import { fetchOnce } from "./wire.ts";

type Service = "proxy" | "web" | "web2" | "ingest" | "spool";

/** The built proxy image between two recorders, `web` and `ingest`, on a network that no other proxy is on. */
export interface TestProxy {
  /** The port of the TLS listener on 127.0.0.1. */
  port: number;
  /** Where another listener is reached, as a URL: 8080 is the plain one, 8083 that of web. */
  at(listener: number): string;
  web: Recorder;
  /** The second replica of web, when asked for. */
  web2?: Recorder;
  ingest: Recorder;
  /** The spool's address, when asked for. */
  spool: string;
  /** Asks the internal port; throws unless it answers with 200. In the container, curl would take a hundred times the processor time. */
  internal(path: string): Promise<string>;
  /** The value of a series in the metrics, 0 if there is none. */
  metric(series: string): Promise<number>;
  /** The line of the access log that contains this, once there is one. */
  // biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they read
  logged(text: unknown): Promise<any>;
  /** Runs a docker command on one of the containers: `on("ingest", "restart")`. One on web or the ingest ends the testbed's reuse. */
  on(service: Service, ...command: string[]): Promise<string>;
  /** Restarts a container and waits until pages come through again; a recorder forgets what it had. */
  restart(service: Service): Promise<void>;
  stop(): Promise<void>;
}

export interface Options {
  /** Host files to paths. */
  mounts?: Record<string, string>;
  /** Whether a second container answers to the name `web`, and to `web-a`. */
  twoReplicas?: boolean;
  /** Names with a port, each of one more address that answers no connection. */
  silent?: string[];
  /** Whether the spool runs beside the proxy. */
  spool?: boolean;
}

/**
 * Starts a proxy with these settings; SENTRY_DSN defaults to project 7 of the recording ingest, below a path prefix. Throws with the
 * proxy's log if it does not come up; nothing is left then, because Docker has few networks.
 */
export async function startProxy(settings: Record<string, string> = {}, options: Options = {}): Promise<TestProxy> {
  const testbed = await takeTestbed();
  const { id } = testbed;
  const image = await build();
  if (options.twoReplicas) await startRecorder(testbed, "web2", ["web", "web-a"]);
  for (const [n, address] of (options.silent ?? []).entries()) await startSilent(testbed, `silent${n}`, address);
  const environment: Record<string, string> = {
    SENTRY_DSN: "http://key@ingest:9000/prefix/7",
    WEB_UPSTREAM: "web:9000",
    ...(options.spool && { SPOOL_UPSTREAM: "spool:8082" }),
    ...settings,
  };
  if (options.spool) {
    const hard = hardened.filter((option) => !option.startsWith("--tmpfs"));
    const dsn = `--env=SENTRY_DSN=${environment.SENTRY_DSN}`;
    await startService(testbed, "spool", ["spool"], [8082], ...hard, dsn, await build("spool"));
  }
  const env = Object.entries(environment).map(([key, value]) => `--env=${key}=${value}`);
  const volumes = Object.entries(options.mounts ?? {}).map(([file, path]) => `--volume=${file}:${path}:ro`);
  const bound = [`--memory=${memoryLimit}`, `--memory-swap=${memoryLimit}`];
  const own = ["--publish=127.0.0.1::8443", ...bound, ...hardened, ...env, ...volumes, image];
  await startService(testbed, "proxy", [], [8080, 8081, 8083], ...own);

  const services = ["proxy", "web", "ingest"];
  if (options.twoReplicas) services.push("web2");
  if (options.spool) services.push("spool");
  const look = async () => {
    const at = await addresses(id, services);
    const recorder = (service: string) => new Recorder(`http://${at(service, 9001)}`);
    return {
      port: Number(at("proxy", 8443).split(":")[1]),
      at: (listener: number) => `http://${at("proxy", listener)}`,
      web: recorder("web"),
      ...(options.twoReplicas && { web2: recorder("web2") }),
      ingest: recorder("ingest"),
      spool: options.spool ? `http://${at("spool", 8082)}` : "",
    };
  };
  const proxy: TestProxy = {
    ...(await look()),
    internal: async (path) => {
      const answer = await fetchOnce(`${proxy.at(8081)}${path}`);
      const body = await answer.text();
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${body}`);
      return body;
    },
    metric: async (series) => {
      const lines = (await proxy.internal("/metrics")).split("\n");
      return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length) ?? 0);
    },
    logged: async (text) => {
      // Nginx writes once a second.
      for (; ; await pause(200)) {
        const lines = (await proxy.on("proxy", "logs")).split("\n").filter((line) => line.startsWith("{"));
        const found = lines.find((line) => line.includes(String(text)));
        if (found) return JSON.parse(found);
      }
    },
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
  await ready(proxy).catch(async (error) => {
    testbed.changed = true;
    await proxy.stop();
    throw error;
  });
  return proxy;
}

/**
 * Waits until the proxy says that it may get traffic and the recorders respond, which the proxy does not wait for, except for one web;
 * throws with its log when it does not come up.
 */
async function ready(proxy: TestProxy): Promise<void> {
  const isRunning = async () => (await proxy.on("proxy", "inspect", "--format={{.State.Running}}")) === "true";
  const isReady = async () => {
    await proxy.internal("/readyz");
    if (proxy.spool) await fetchOnce(`${proxy.spool}/healthz`);
    await Promise.all([proxy.web, proxy.web2, proxy.ingest].map((recorder) => recorder?.count()));
    return true;
  };
  const begin = Date.now();
  for (let looked = begin; Date.now() < begin + 600_000; await pause(100)) {
    if (await isReady().catch(() => false)) return;
    if (Date.now() < looked + 2_000) continue;
    if (!(await isRunning())) break;
    looked = Date.now();
  }
  throw new Error(`the proxy did not come up: ${await proxy.on("proxy", "logs")}`);
}
