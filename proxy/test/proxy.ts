import { setTimeout as pause } from "node:timers/promises";
import { hardened, label, memoryLimit, must, recorderArguments, restricted } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";
import {
  addresses,
  environmentOf,
  mountsOf,
  returnTestbed,
  startService,
  type Testbed,
  takeTestbed,
} from "./testbed.ts";
import { fetchOnce } from "./wire.ts";

type Service = "proxy" | "web" | "web2" | "ingest" | "spool";

export interface Options {
  mounts?: Record<string, string>;
  twoReplicas?: boolean;
  /** Names, each of one more address that answers no connection. */
  silent?: string[];
  spool?: boolean;
}

/** The built proxy image between two recorders, `web` and `ingest`, on a network that no other proxy is on. */
export class TestProxy {
  port = 0;
  web!: Recorder;
  ingest!: Recorder;
  web2: Recorder | undefined;
  /** Where a service's port is reached, as a URL: the proxy's 8080 is the plain listener, 8083 that of web. */
  at!: (port: number, service?: Service) => string;
  private readonly testbed: Testbed;

  constructor(testbed: Testbed) {
    this.testbed = testbed;
  }

  /** In the container, curl would take a hundred times the processor time. */
  async internal(path: string): Promise<string> {
    const answer = await fetchOnce(`${this.at(8081)}${path}`);
    const body = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${body}`);
    return body;
  }

  async metric(series: string): Promise<number> {
    const lines = (await this.internal("/metrics")).split("\n");
    return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length) ?? 0);
  }

  log = (): Promise<string> => this.on("proxy", "logs");

  // biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they read
  async logged(text: unknown): Promise<any> {
    // Nginx writes once a second.
    for (; ; await pause(200)) {
      const lines = (await this.log()).split("\n").filter((line) => line.startsWith("{"));
      const found = lines.find((line) => line.includes(String(text)));
      if (found) return JSON.parse(found);
    }
  }

  /** One on web or the ingest ends the testbed's reuse. */
  on(service: Service, command: string, ...rest: string[]): Promise<string> {
    if (service === "web" || service === "ingest") this.testbed.changed = true;
    return must(command, `${this.testbed.id}-${service}`, ...rest);
  }

  inside = (script: string): Promise<string> => this.on("proxy", "exec", "sh", "-c", script);

  async restart(service: Service): Promise<void> {
    await this.on(service, "restart", "-t", "5");
    await this.ready();
  }

  stop = (): Promise<void> => returnTestbed(this.testbed);

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
    for (const end = Date.now() + 600_000; Date.now() < end; await pause(100)) {
      if (await isReady().catch(() => false)) return;
      if (!(await isRunning())) break;
    }
    throw new Error(`the proxy did not come up: ${await this.log()}`);
  }
}

export async function render(settings: Record<string, string> = {}): Promise<string> {
  const environment = environmentOf({ SENTRY_DSN: "http://key@127.0.0.1:9/7", ...settings });
  return must("run", "--rm", label, "--network=none", ...hardened, ...environment, await build(), "render");
}

/** Leaves nothing if the proxy does not come up, because Docker has few networks. */
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
    // In memory, so that no test waits for the disk's fsync.
    const hard = [...restricted, "--tmpfs=/var/lib/spool:uid=1000,gid=1000,mode=0700"];
    const { SENTRY_DSN = "", TUNNEL_ALLOWED_DSNS = "" } = environment;
    const dsns = environmentOf({ SENTRY_DSN, TUNNEL_ALLOWED_DSNS });
    await startService(testbed, "spool", ["spool"], [8082], ...hard, ...dsns, await build("spool"));
  }
  const bound = [`--memory=${memoryLimit}`, `--memory-swap=${memoryLimit}`, "--publish=127.0.0.1::8443"];
  const args = [...bound, ...hardened, ...environmentOf(environment), ...mountsOf(options.mounts ?? {})];
  await startService(testbed, "proxy", [], [8080, 8081, 8083], ...args, image);
  const proxy = new TestProxy(testbed);
  await proxy.ready().catch(async (error) => {
    testbed.changed = true;
    await proxy.stop();
    throw error;
  });
  return proxy;
}
