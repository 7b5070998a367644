import { execFile } from "node:child_process";
import { createServer as createPlain, type RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Ajv } from "ajv";
import { failed, type Result } from "../../../checks/result.ts";
import schema from "../../../checks/results.schema.json" with { type: "json" };
import { label } from "../../../test/support/docker.ts";
import { built, docker } from "./docker.ts";
import { type Exec, startApiServer } from "./fake-api-server.ts";
import { controllers, find, matches, of, type Resource } from "./objects.ts";
import { root } from "./paths.ts";

/** A cluster that runs production, and what a test changes in it. */
export interface World {
  objects: Resource[];
  /** Callers whose pods resolve no names: the query is refused, or gets no answer. */
  dns: Record<string, "refused" | "dropped">;
  /** Addresses (host:port) that a caller's pod does not reach, by network policy. */
  blocked: string[];
  /** Status of pages by path; `*` for all others. */
  pages: Record<string, number>;
  /** Whether the ingest acknowledges the proxy's envelopes, its status for a probe, and how a request to it ends (curl's exit code). */
  ingest: { acknowledges: boolean; status: number; exit: number };
  /** Status of envelopes: of the app's project, a foreign one, and to the spool's first replica. */
  envelopes: { own: number; foreign: number; spool: number };
  /** The key and the certificate that the proxy serves; without, TLS ends before it. */
  certificate: { key: string; cert: string } | undefined;
  /** Settings with which the pods have started, if the ConfigMaps were edited since. */
  started: Record<string, string>;
  /** The DSN with which the pods of a role have started; `*` for all others. */
  dsn: Record<string, string>;
  /** Pods in which no command runs, because they have just ended. */
  ended: string[];
}

/** The live objects of a healthy deployment: pods, addresses and statuses, by its manifests. */
export function healthy(manifests: Resource[]): Resource[] {
  const objects = structuredClone(manifests);
  for (const { spec } of of(objects, "Service")) spec.clusterIP = "127.0.0.1";
  for (const scaler of of(objects, "HorizontalPodAutoscaler"))
    scaler.status = { conditions: [{ type: "ScalingActive", status: "True" }] };
  for (const controller of controllers(objects)) {
    const { replicas = 2, template } = controller.spec;
    controller.spec.replicas = replicas;
    controller.status = { observedGeneration: 1, updatedReplicas: replicas, availableReplicas: replicas };
    for (let at = 0; at < replicas; at += 1)
      objects.push({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `${controller.metadata.name}-${at}`, labels: template.metadata.labels },
        spec: { ...structuredClone(template.spec), nodeName: `node-${at}` },
        // No program of this machine can answer here: TCP has no multicast.
        status: { conditions: [{ type: "Ready", status: "True" }], podIP: `224.0.0.${3 + at}` },
      });
  }
  return objects;
}

/** EndpointSlices follow Services and pods. */
export const withSlices = (objects: Resource[]): Resource[] => [
  ...objects,
  ...of(objects, "Service").map(({ metadata: { name }, spec }) => {
    const pods = of(objects, "Pod").filter(({ metadata }) => matches(spec.selector, metadata.labels));
    return {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name, labels: { "kubernetes.io/service-name": name } },
      endpoints: pods.map(({ status }) => ({ conditions: { ready: status.conditions[0].status === "True" } })),
    };
  }),
];

/** What the commands of verify/ print in the pods of this world. */
function commands(world: World): Exec {
  const settings = (pod: string, caller: string): Record<string, string> => {
    const { containers } = find(world.objects, "Pod", pod).spec;
    const own = containers.find(({ name }: { name: string }) => name === caller)?.env ?? [];
    const env = own.map(({ name, value = "" }: Record<string, string>) => [
      name,
      name === "SENTRY_DSN" ? (world.dsn[caller] ?? world.dsn["*"]) : value.replace("$(POD_NAMESPACE)", "culvert"),
    ]);
    const maps = of(world.objects, "ConfigMap").map(({ data }) => data);
    return Object.assign({}, ...maps, world.started, Object.fromEntries(env));
  };
  const exists = (service = "") => of(world.objects, "Service").some(({ metadata }) => metadata.name === service);
  let acknowledged = 0;
  return (pod, command) => {
    const end = (output: unknown, code = 0) => ({ code, output: `${output}` });
    const line = command.join(" ");
    const caller = find(world.objects, "Pod", pod).metadata.labels?.["app.kubernetes.io/name"] ?? "";
    const isNode = command[0] === "node";
    const names = /printenv|process\.env\[name\]/.test(line) && command.slice(isNode ? 3 : 4);
    if (world.ended.includes(pod)) return end("", -1);
    if (names) return end(names.map((name) => settings(pod, caller)[name] ?? "").join("\n"));
    const dns = world.dns[caller];
    const ends = isNode ? { refused: 1, dropped: 137 } : { refused: 2, dropped: 124 };
    if (line.includes("kubernetes.default.svc")) return end("", dns ? ends[dns] : 0);
    if (line.includes("8081/metrics"))
      return end(
        `culvert_requests_total{} 1\nculvert_tunnel_envelopes_total{outcome="accepted",reason=""} ${acknowledged}\n`,
      );
    if (line.includes("8082/metrics")) return end('culvert_spool_queued_envelopes{category="error"} 3\n');
    if (line.includes("X-Spool-Destination")) return end(line.includes("224.0.0.3") ? world.envelopes.spool : 200);
    if (line.includes("?o=1&p=1")) return end(world.envelopes.foreign);
    if (line.includes("--resolve")) {
      acknowledged += Number(world.ingest.acknowledges);
      return end(world.envelopes.own);
    }
    if (line.includes("INGEST_CA_FILE")) return end(world.ingest.status, world.ingest.exit);
    const [, service, port] = /https?:\/\/([\w-]+)\.\S+\.svc\.[\w.]+:(\d+)/.exec(line) ?? [];
    const dropped = dns === "dropped" || world.blocked.includes(`${caller} ${service}:${port}`);
    const [code, said] = dropped ? [28, "TimeoutError"] : dns || !exists(service) ? [6, "ENOTFOUND"] : [0, 405];
    return isNode ? end(said) : end(code ? "000" : 200, code);
  };
}

const isValid = new Ajv().compile<{ checks: Result[] }>(schema);

/** Returns the checks of what a program printed with --json, or one that says that it was something else. */
function read(output: string): Result[] {
  const printed: unknown = JSON.parse(output);
  return isValid(printed) ? printed.checks : [failed("schema", JSON.stringify(isValid.errors), "")];
}

/** Starts a container in which runJob runs the checks, with the Job's image, on this machine's network; returns its id. */
export function startJobs(): string {
  const volume = `--volume=${root}/deploy/checks:/verify:ro`;
  const id = docker("run", "-d", label, "--network=host", volume, "--entrypoint=sleep", built("spool"), "infinity");
  docker("exec", id, "sh", "-c", "printf token >/tmp/token");
  return id;
}

/** Runs the checks as the Job does, against the API server at `url`; returns "state check: found: fix" for each. */
export function runJob(id: string, url: string, env: object): Promise<{ code: number; lines: string[] }> {
  const settings = { API_SERVER: url, TOKEN_FILE: "/tmp/token", NAMESPACE: "culvert", ...env };
  const variables = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  return new Promise((resolve) => {
    const command = ["exec", ...variables, id, "node", "/verify/verify-cluster.ts", "--json"];
    const child = execFile("docker", command, (_, stdout, stderr) => {
      const checks: Result[] = stderr ? [failed("stderr", stderr, "")] : read(stdout);
      const line = ({ state, check, found, fix }: Result) =>
        [`${state} ${check}`, found, fix].filter(Boolean).join(": ");
      resolve({ code: child.exitCode ?? -1, lines: checks.map(line) });
    });
  });
}

/** Runs the checks against a world; returns their lines. */
export async function verify(id: string, world: World, env: object = {}): ReturnType<typeof runJob> {
  const { certificate } = world;
  const answer: RequestListener = ({ url = "", headers }, response) => {
    const isOverTls = certificate || headers["x-forwarded-proto"] === "https";
    response.writeHead(isOverTls ? (world.pages[url] ?? world.pages["*"] ?? 200) : 308).end();
  };
  const site = certificate ? createServer(certificate, answer) : createPlain(answer);
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  for (const { metadata, spec } of of(world.objects, "Service"))
    if (/(^|-)proxy$/.test(metadata.name)) spec.ports[certificate ? 0 : 1].port = (site.address() as AddressInfo).port;
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
