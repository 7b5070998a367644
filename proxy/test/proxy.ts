import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { docker, hardened, label, memoryLimit, must, root } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";

/** What runs the recorders. */
export const recorderImage = "node:24-trixie-slim";
const recorderFolder = `${root}/deploy/test/support/recorder`;

type Service = "proxy" | "web" | "web2" | "ingest" | "spool";

/** The built proxy image between two recorders, `web` and `ingest`, on a network of their own. */
export interface TestProxy {
  /** The port of the TLS listener on 127.0.0.1. */
  port: number;
  /** The port on 127.0.0.1 of another listener, if `ports` names it. */
  portOf(listener: number): number;
  web: Recorder;
  /** The second replica of web, when asked for. */
  web2?: Recorder;
  ingest: Recorder;
  /** Runs a docker command on one of the containers: `on("ingest", "pause")`. */
  on(service: Service, ...command: string[]): Promise<string>;
  /** Restarts a container and waits until pages come through again; a recorder forgets what it had. */
  restart(service: Service): Promise<void>;
  stop(): Promise<void>;
}

/** Extra mounts (host file to path), network names of the ingest, and environment of the ingest's recorder. */
export interface Options {
  mounts?: Record<string, string>;
  ingestNames?: string[];
  ingestCert?: string;
  /** Whether a second container answers to the name `web`. */
  twoReplicas?: boolean;
  /** Further listeners to publish: 8080 is the plain one, 8083 that of web. */
  ports?: number[];
  /** Whether the spool stands beside the proxy. */
  spool?: boolean;
  /** Whether the proxy's memory is bounded as in the compose file. */
  memory?: boolean;
}

/**
 * Starts a proxy with these settings; SENTRY_DSN defaults to project 7 of the recording ingest, below a path prefix. Throws with the
 * proxy's log if it does not come up; nothing is left then, because Docker has few networks.
 */
export async function startProxy(settings: Record<string, string> = {}, options: Options = {}): Promise<TestProxy> {
  const id = `culvert-proxy-test-${randomUUID().slice(0, 8)}`;
  return startIn(id, settings, options).catch(async (error) => {
    await remove(id);
    throw error;
  });
}

/** Removes the network with this name and its containers. */
async function remove(id: string): Promise<void> {
  await docker("rm", "-f", "-v", ...["proxy", "web", "web2", "ingest", "spool"].map((service) => `${id}-${service}`));
  await docker("network", "rm", id);
}

async function startIn(id: string, settings: Record<string, string>, options: Options): Promise<TestProxy> {
  const image = await build();
  const name = (service: string) => `${id}-${service}`;
  const start = (service: string, names: string[], ...args: string[]) =>
    must(
      ...["run", "-d", label, `--name=${name(service)}`, `--network=${id}`],
      ...names.map((alias) => `--network-alias=${alias}`),
      ...args,
    );
  const recorder = (service: string, names: string[], cert = "") => {
    const tls = cert ? [`--volume=${cert}:/cert:ro`, "--env=CERT=/cert/server"] : [];
    const mount = `--volume=${recorderFolder}:/recorder:ro`;
    return start(service, names, "-p", "127.0.0.1::9001", mount, ...tls, recorderImage, "node", "/recorder/server.ts");
  };

  await must("network", "create", label, id);
  await Promise.all([
    recorder("web", ["web"]),
    ...(options.twoReplicas ? [recorder("web2", ["web"])] : []),
    recorder("ingest", ["ingest", ...(options.ingestNames ?? [])], options.ingestCert),
  ]);
  const environment: Record<string, string> = {
    SENTRY_DSN: "http://key@ingest:9000/prefix/7",
    WEB_UPSTREAM: "web:9000",
    ...settings,
  };
  if (options.spool) {
    environment.SPOOL_UPSTREAM = "spool:8082";
    const hard = hardened.filter((option) => !option.startsWith("--tmpfs"));
    await start("spool", ["spool"], ...hard, `--env=SENTRY_DSN=${environment.SENTRY_DSN}`, await build("spool"));
  }
  const env = Object.entries(environment).map(([key, value]) => `--env=${key}=${value}`);
  const volumes = Object.entries(options.mounts ?? {}).map(([file, path]) => `--volume=${file}:${path}:ro`);
  const ports = [8443, ...(options.ports ?? [])].map((port) => `--publish=127.0.0.1::${port}`);
  const bound = options.memory ? [`--memory=${memoryLimit}`, `--memory-swap=${memoryLimit}`] : [];
  await start("proxy", [], ...ports, ...bound, ...hardened, ...env, ...volumes, image);

  // Docker gives a restarted container other host ports.
  const services = ["proxy", "web", "ingest", ...(options.twoReplicas ? ["web2"] : [])];
  const addresses = async () => {
    const format = "{{.Name}} {{json .NetworkSettings.Ports}}";
    const lines = (await must("inspect", `--format=${format}`, ...services.map(name))).split("\n");
    const portOf = (service: string, port: number) => {
      const ports = lines.find((line) => line.startsWith(`/${name(service)} `))?.split(" ")[1] ?? "{}";
      return Number(JSON.parse(ports)[`${port}/tcp`]?.[0].HostPort);
    };
    const recorder = (service: string) => new Recorder(`http://127.0.0.1:${portOf(service, 9001)}`);
    return {
      port: portOf("proxy", 8443),
      portOf: (listener: number) => portOf("proxy", listener),
      web: recorder("web"),
      ...(options.twoReplicas && { web2: recorder("web2") }),
      ingest: recorder("ingest"),
    };
  };

  const proxy: TestProxy = {
    ...(await addresses()),
    on: (service, command = "", ...rest) => must(command, name(service), ...rest),
    restart: async (service) => {
      await must("restart", "-t", "5", name(service));
      Object.assign(proxy, await addresses());
      await ready(proxy);
      const recorder = service === "web" || service === "web2" || service === "ingest" ? proxy[service] : undefined;
      while (recorder && (await recorder.count().catch(() => -1)) < 0) await pause(100);
    },
    stop: () => remove(id),
  };
  await ready(proxy);
  return proxy;
}

/** Waits until the proxy says that it may get traffic; throws with its log when it does not come up. */
async function ready(proxy: TestProxy): Promise<void> {
  const asked = "until curl -fsS http://127.0.0.1:8081/readyz; do sleep 0.1; done";
  const answer = proxy.on("proxy", "exec", "timeout", "120", "sh", "-c", asked);
  if (await answer.then(Boolean, () => false)) return;
  throw new Error(`the proxy did not come up: ${await proxy.on("proxy", "logs")}`);
}
