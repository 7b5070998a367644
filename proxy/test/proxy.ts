import { setTimeout as pause } from "node:timers/promises";
import { hardened, memoryLimit, must, recorderArguments } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";
import { addresses, returnTestbed, startService, type Testbed, takeTestbed } from "./testbed.ts";
import { fetchOnce } from "./wire.ts";

type Service = "proxy" | "web" | "web2" | "ingest" | "spool";

export interface Options {
  /** Host files to paths. */
  mounts?: Record<string, string>;
  /** Whether a second container answers to the name `web`, and to `web-a`. */
  twoReplicas?: boolean;
  /** Names, each of one more address that answers no connection. */
  silent?: string[];
  /** Whether the spool runs beside the proxy. */
  spool?: boolean;
}

/** The built proxy image between two recorders, `web` and `ingest`, on a network that no other proxy is on. */
export class TestProxy {
  /** The port of the TLS listener on 127.0.0.1. */
  port = 0;
  web!: Recorder;
  ingest!: Recorder;
  /** The second replica of web, when asked for. */
  web2: Recorder | undefined;
  /** Where a service's port is reached, as a URL: the proxy's 8080 is the plain listener, 8083 that of web. */
  at!: (port: number, service?: Service) => string;
  private readonly testbed: Testbed;

  constructor(testbed: Testbed) {
    this.testbed = testbed;
  }

  /** Asks the internal port; throws unless it answers with 200. In the container, curl would take a hundred times the processor time. */
  async internal(path: string): Promise<string> {
    const answer = await fetchOnce(`${this.at(8081)}${path}`);
    const body = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${body}`);
    return body;
  }

  /** The value of a series in the metrics, 0 if there is none. */
  async metric(series: string): Promise<number> {
    const lines = (await this.internal("/metrics")).split("\n");
    return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length) ?? 0);
  }

  log = (): Promise<string> => this.on("proxy", "logs");

  /** The line of the access log that contains this, once there is one. */
  // biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they read
  async logged(text: unknown): Promise<any> {
    // Nginx writes once a second.
    for (; ; await pause(200)) {
      const lines = (await this.log()).split("\n").filter((line) => line.startsWith("{"));
      const found = lines.find((line) => line.includes(String(text)));
      if (found) return JSON.parse(found);
    }
  }

  /** Runs a docker command on one of the containers: `on("ingest", "restart")`. One on web or the ingest ends the testbed's reuse. */
  on(service: Service, command: string, ...rest: string[]): Promise<string> {
    if (service === "web" || service === "ingest") this.testbed.changed = true;
    return must(command, `${this.testbed.id}-${service}`, ...rest);
  }

  /** Runs a shell script in the proxy's container. */
  inside = (script: string): Promise<string> => this.on("proxy", "exec", "sh", "-c", script);

  /** Restarts a container and waits until pages come through again; a recorder forgets what it had. */
  async restart(service: Service): Promise<void> {
    await this.on(service, "restart", "-t", "5");
    await this.ready();
  }

  stop = (): Promise<void> => returnTestbed(this.testbed);

  /**
   * Waits until the proxy says that it may get traffic and the recorders respond, which the proxy does not wait for, except for one web;
   * throws with its log when it does not come up.
   */
  async ready(): Promise<void> {
    const at = await addresses(this.testbed);
    const has = (service: Service) => this.testbed.services.includes(service);
    this.at = (port, service = "proxy") => `http://${at(service, port)}`;
    this.port = Number(at("proxy", 8443).split(":")[1]);
    this.web = new Recorder(this.at(9001, "web"));
    this.ingest = new Recorder(this.at(9001, "ingest"));
    this.web2 = has("web2") ? new Recorder(this.at(9001, "web2")) : undefined;
    const isRunning = async () => (await this.on("proxy", "inspect", "--format={{.State.Running}}")) === "true";
    const isReady = async () => {
      await this.internal("/readyz");
      if (has("spool")) await fetchOnce(`${this.at(8082, "spool")}/healthz`);
      await Promise.all([this.web, this.web2, this.ingest].map((recorder) => recorder?.count()));
      return true;
    };
    for (const end = Date.now() + 600_000; Date.now() < end && (await isRunning()); await pause(100))
      if (await isReady().catch(() => false)) return;
    throw new Error(`the proxy did not come up: ${await this.log()}`);
  }
}

/**
 * Starts a proxy with these settings; SENTRY_DSN defaults to project 7 of the recording ingest, below a path prefix. Throws with the
 * proxy's log if it does not come up; nothing is left then, because Docker has few networks.
 */
export async function startProxy(settings: Record<string, string> = {}, options: Options = {}): Promise<TestProxy> {
  const testbed = await takeTestbed();
  const image = await build();
  if (options.twoReplicas) await startService(testbed, "web2", ["web", "web-a"], [9001], ...recorderArguments());
  // Linux then does not say whose the address is.
  const silent = ["--sysctl=net.ipv4.conf.all.arp_ignore=8", "node:24-trixie-slim", "sleep", "infinity"];
  for (const [n, name] of (options.silent ?? []).entries())
    await startService(testbed, `silent${n}`, [name], [], ...silent);
  const environment: Record<string, string> = {
    SENTRY_DSN: "http://key@ingest:9000/prefix/7",
    WEB_UPSTREAM: "web:9000",
    ...(options.spool && { SPOOL_UPSTREAM: "spool:8082" }),
    ...settings,
  };
  if (options.spool) {
    const hard = hardened.filter((option) => !option.startsWith("--tmpfs"));
    const dsns = ["SENTRY_DSN", "TUNNEL_ALLOWED_DSNS"].map((name) => `--env=${name}=${environment[name] ?? ""}`);
    await startService(testbed, "spool", ["spool"], [8082], ...hard, ...dsns, await build("spool"));
  }
  const env = Object.entries(environment).map(([key, value]) => `--env=${key}=${value}`);
  const volumes = Object.entries(options.mounts ?? {}).map(([file, path]) => `--volume=${file}:${path}:ro`);
  const bound = [`--memory=${memoryLimit}`, `--memory-swap=${memoryLimit}`];
  const own = ["--publish=127.0.0.1::8443", ...bound, ...hardened, ...env, ...volumes, image];
  await startService(testbed, "proxy", [], [8080, 8081, 8083], ...own);
  const proxy = new TestProxy(testbed);
  await proxy.ready().catch(async (error) => {
    testbed.changed = true;
    await proxy.stop();
    throw error;
  });
  return proxy;
}
