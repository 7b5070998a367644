import { SILENT } from "../ingest.ts";
import { readSections } from "../sections.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read as the API documents them
export type Part = any;
export interface Item {
  kind: string;
  metadata: {
    name: string;
    generation?: number;
    labels?: Record<string, string>;
    deletionTimestamp?: string;
    managedFields?: { manager: string; operation: string; subresource?: string; fieldsV1?: Part }[];
  };
  spec?: Part;
  status?: Part;
}

/** What a pod said. A request ended with a status, or with an error's code. */
export interface Answer {
  role: string;
  settings: Record<string, string>;
  asked: Record<string, number | string>;
  /** Envelopes, by address of a spool. */
  queued: Record<string, number>;
  metrics?: number;
  isReached?: boolean;
}

export const { NAMESPACE: namespace = "culvert", INSTANCE = "", PROMETHEUS = "" } = process.env;
export const role = ({ metadata }: Item): string => metadata.labels?.["app.kubernetes.io/name"] ?? "";
/** Options that select a role's pods. */
export const selecting = (name: string) =>
  `-l app.kubernetes.io/name=${name}${INSTANCE ? `,app.kubernetes.io/instance=${INSTANCE}` : ""}`;
/** The command that shows a role's log. */
export const logs = (name: string) => `kubectl -n ${namespace} logs ${selecting(name)}`;
export const condition = ({ status }: Item, type: string) =>
  status?.conditions?.find((found: { type: string }) => found.type === type);
export const isReady = (pod: Item) => !pod.metadata.deletionTimestamp && condition(pod, "Ready")?.status === "True";
export const addressOf = ({ status: { podIP } }: Item) => `${podIP.includes(":") ? `[${podIP}]` : podIP}:8082`;

/** The section `error NAME` says why NAME could not be read. */
export function parseFacts(collected: string) {
  const { lines, json } = readSections(collected);
  const list = (name: string) => json<{ items: Item[] }>(name, { items: [] }).items;
  const [items, nodes] = [list("objects"), list("nodes")];
  const of = (...kinds: string[]) => items.filter(({ kind }) => kinds.includes(kind));
  /** A role's pods that serve: ready, and not terminating. */
  const serving = (name: string) => of("Pod").filter((pod) => role(pod) === name && isReady(pod));
  return { lines, items, nodes, of, serving, workloads: of("Deployment", "StatefulSet") };
}
export type Facts = ReturnType<typeof parseFacts>;

/** The lines by which verify.sh asks a proxy, web or a spool, Prometheus. */
export function plan(facts: Facts): string[] {
  const [[proxy], [web], spools] = [facts.serving("proxy"), facts.serving("web"), facts.serving("spool")];
  const other = web ?? spools[0];
  const [service, space, , port] = PROMETHEUS.split(/[.:]/);
  const query = encodeURIComponent(`up{namespace="${namespace}"}==1`);
  return [
    ...(proxy ? [`proxy ${proxy.metadata.name} ${spools.map(addressOf).join() || "-"}`] : []),
    ...(other ? [`${role(other)} ${other.metadata.name} ${proxy?.status.podIP ?? "-"}`] : []),
    `get prometheus /api/v1/namespaces/${space}/services/${service}:${port}/proxy/api/v1/query?query=${query}`,
  ];
}

/** By curl's exit status. */
const codes: Record<number, string> = { 6: "ENOTFOUND", 7: "ECONNREFUSED", 35: "EPROTO", 52: SILENT, 56: SILENT };
/** By OpenSSL's result of a verification. */
const certificates: Record<number, string> = {
  // curl compares the name itself, newer versions first.
  0: "ERR_TLS_CERT_ALTNAME_INVALID",
  1: "ERR_TLS_CERT_ALTNAME_INVALID",
  9: "CERT_NOT_YET_VALID",
  10: "CERT_HAS_EXPIRED",
  18: "DEPTH_ZERO_SELF_SIGNED_CERT",
  19: "SELF_SIGNED_CERT_IN_CHAIN",
  20: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  21: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
};

/** How a request of ask-proxy.sh ended. */
function endOf([end, status, connected, verified, outcome]: string[]): number | string {
  if (end === "0") return outcome === "queued" ? outcome : Number(status);
  if (end === "28") return Number(connected) > 0 ? SILENT : "ETIMEDOUT";
  if (end === "60") return certificates[Number(verified)] ?? `CERT ${verified}`;
  return codes[Number(end)] ?? `curl's exit status ${end}`;
}

/** What a pod said, if it could be asked. */
export function answerOf(facts: Facts, role: string): Answer | undefined {
  const said = facts.lines(role);
  const answer: Answer = { role, settings: {}, asked: {}, queued: {} };
  if (said[0]?.startsWith("{")) return { ...answer, ...JSON.parse(said[0]) };
  for (const [word, key = "", ...rest] of said.map((line) => line.split(" "))) {
    if (word === "set") answer.settings[key] = rest.join(" ");
    if (word === "metrics") answer.metrics = Number(key);
    if (word === "queued") answer.queued[key] = (answer.queued[key] ?? 0) + Number(rest[0]);
    if (word === "ask") answer.asked[key] = endOf(rest);
  }
  return said.length > 0 ? answer : undefined;
}
