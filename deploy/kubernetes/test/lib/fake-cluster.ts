import { type ChildProcess, execFile } from "node:child_process";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { label } from "../../../test/support/docker.ts";
import { built, docker } from "./docker.ts";
import { type Exec, type Live, startApiServer } from "./fake-api-server.ts";
import { controllers, matches, of, type Resource } from "./objects.ts";
import { kubernetes } from "./paths.ts";

/** A cluster that runs production, and what a test changes in it. */
export interface World {
  objects: Live[];
  /** Callers whose pods resolve no names: the query is refused, or gets no answer. */
  dns: Record<string, "refused" | "dropped">;
  /** Addresses (host:port) that a caller's pod does not reach, by network policy. */
  blocked: string[];
  /** Status of pages by path; `*` for all others. */
  pages: Record<string, number>;
  /** Whether the ingest acknowledges envelopes, and how a request to it ends (curl's exit code). */
  ingest: { acknowledges: boolean; exit: number };
  /** Status of envelopes: of the app's project, a foreign one, and to the spool. */
  envelopes: { own: number; foreign: number; spool: number };
  /** The key and the certificate that the proxy serves. */
  certificate: { key: string; cert: string };
  /** Settings with which the pods have started, if the ConfigMaps were edited since. */
  started: Record<string, string>;
}

const serving = { conditions: [{ type: "Ready", status: "True" }], podIP: "127.85.4.3" };

/** The live objects of a healthy deployment: pods, addresses and statuses, by its manifests. */
export function healthy(manifests: Resource[]): Live[] {
  const objects = structuredClone(manifests) as Live[];
  for (const one of objects) if (one.kind === "Service") one.spec.clusterIP = "127.0.0.1";
  for (const one of objects)
    if (one.kind === "HorizontalPodAutoscaler")
      one.status = { conditions: [{ type: "ScalingActive", status: "True" }] };
  for (const { metadata, spec } of controllers(manifests)) {
    const replicas = spec?.replicas ?? 2;
    const live = objects.find(
      ({ kind, metadata: { name } }) => kind !== "Service" && /Dep|Stateful/.test(kind) && name === metadata.name,
    );
    if (live) live.spec.replicas = replicas;
    Object.assign(live ?? {}, {
      status: { observedGeneration: 1, updatedReplicas: replicas, availableReplicas: replicas },
    });
    for (let at = 0; at < replicas; at += 1)
      objects.push({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `${metadata.name}-${at}`, labels: spec?.template.metadata?.labels },
        spec: { ...structuredClone(spec?.template.spec), nodeName: `node-${at}` },
        status: structuredClone(serving),
      });
  }
  return objects;
}

/** EndpointSlices follow Services and pods. */
export const withSlices = (objects: Live[]): Live[] => [
  ...objects,
  ...objects
    .filter(({ kind }) => kind === "Service")
    .map(({ metadata, spec }): Live => {
      const pods = objects.filter((one) => one.kind === "Pod" && matches(spec.selector, one.metadata.labels ?? {}));
      const endpoints = pods.map(({ status }) => ({ conditions: { ready: status.conditions[0].status === "True" } }));
      const labels = { "kubernetes.io/service-name": metadata.name };
      return {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name: metadata.name, labels },
        endpoints,
      };
    }),
];

const done = (output: unknown, code = 0) => ({ code, output: `${output}` });

/** What the commands of verify/ print in the pods of this world. */
function commands(world: World): Exec {
  const settings = () =>
    Object.assign({}, ...of(world.objects, "ConfigMap").map(({ data }) => data), world.started) as Record<
      string,
      string
    >;
  const exists = (host: string) =>
    world.objects.some(({ kind, metadata }) => kind === "Service" && metadata.name === host.split(".")[0]);
  let counter = 0;
  return (pod, command) => {
    const line = command.join(" ");
    const url = /(?:^|\s)(https?:\/\/\S+\.svc\.\S+)/.exec(line)?.[1];
    const values = (names: string[]) => done(names.map((name) => settings()[name] ?? "").join("\n"));
    if (line.includes("printenv")) return values(command.slice(4));
    if (line.includes("process.env[name]")) return values(command.slice(3));
    const dns = world.dns[pod.split("-")[0] ?? ""];
    const ends = command[0] === "node" ? { refused: 1, dropped: 137 } : { refused: 2, dropped: 124 };
    if (line.includes("kubernetes.default.svc")) return done("", dns ? ends[dns] : 0);
    if (line.includes("8081/metrics"))
      return done(
        `culvert_requests_total{} 1\nculvert_tunnel_envelopes_total{outcome="accepted",reason=""} ${counter}\n`,
      );
    if (line.includes("X-Spool-Destination")) return done(world.envelopes.spool);
    if (line.includes("?o=1&p=1")) return done(world.envelopes.foreign);
    if (line.includes("--resolve")) {
      if (world.ingest.acknowledges) counter += 1;
      return done(world.envelopes.own);
    }
    if (line.includes("INGEST_CA_FILE")) return world.ingest.exit ? done("000", world.ingest.exit) : done(200);
    const { hostname, port } = new URL(url ?? "http://none");
    const blocked = world.blocked.includes(`${pod.split("-")[0]} ${hostname.split(".")[0]}:${port}`);
    const [code, said] =
      dns === "dropped" || blocked ? [28, "TimeoutError"] : dns || !exists(hostname) ? [6, "ENOTFOUND"] : [0, 405];
    return command[0] === "node" ? done(said) : code ? done("000", code) : done(200);
  };
}

/** Starts a container in which runJob runs the checks, with the Job's image, on this machine's network; returns its id. */
export function startJobs(): string {
  const folder = `--volume=${kubernetes}/verify:/verify:ro`;
  const id = docker(
    "run",
    "--detach",
    label,
    "--network=host",
    folder,
    "--entrypoint=sleep",
    built("spool"),
    "infinity",
  );
  docker("exec", id, "sh", "-c", "printf token >/tmp/token");
  return id;
}

/** Runs the checks as the Job does, against the API server at `url`. */
export function runJob(
  id: string,
  url: string,
  env: Record<string, string>,
): Promise<{ code: number; lines: string[] }> {
  const settings = { API_SERVER: url, TOKEN_FILE: "/tmp/token", NAMESPACE: "culvert", ...env };
  const variables = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  return new Promise((resolve) => {
    const child: ChildProcess = execFile(
      "docker",
      ["exec", ...variables, id, "node", "/verify/main.ts"],
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, lines: `${stdout}${stderr}`.trim().split("\n") }),
    );
  });
}

/** Runs the checks against a world; returns their lines. */
export async function verify(id: string, world: World, env: Record<string, string> = {}): ReturnType<typeof runJob> {
  const site: Server = createServer(world.certificate, ({ url = "" }, response) => {
    response.writeHead(world.pages[url] ?? world.pages["*"] ?? 200).end();
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  for (const { kind, metadata, spec } of world.objects)
    if (kind === "Service" && /(^|-)proxy$/.test(metadata.name))
      spec.ports[0].port = (site.address() as AddressInfo).port;
  const api = await startApiServer(() => withSlices(world.objects), commands(world));
  try {
    return await runJob(id, api.url, { WAIT_S: "2", ...env });
  } finally {
    for (const server of [site, api.server]) {
      server.closeAllConnections();
      server.close();
    }
  }
}
