/** What the checks read of an object. */
export interface Item {
  kind: string;
  metadata: { name: string; generation?: number; labels?: Record<string, string>; deletionTimestamp?: string };
  // biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read as the API documents them
  spec?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  status?: any;
}

/** How a request of the proxy ended: curl's exit status, the response's, OpenSSL's result for the certificate. */
export interface Ended {
  end: number;
  status: number;
  isConnected: boolean;
  verified: number;
  outcome: string;
}
/** What a pod said: a request of web ended with a status, or with a system error's code. */
export interface Answer {
  pod: Item;
  settings: Record<string, string>;
  asked: Record<string, Ended | number | string>;
  dns: number;
  certificate?: string;
  /** By address of a spool. */
  queued: Record<string, number>;
  metrics?: number;
  isReached?: boolean;
}

export const { NAMESPACE: namespace = "culvert", INSTANCE = "", PAGE = "", PROMETHEUS = "" } = process.env;
export const role = ({ metadata }: Item): string => metadata.labels?.["app.kubernetes.io/name"] ?? "";
/** A command's options that select a role's pods. */
export const selecting = (name: string) =>
  `-l app.kubernetes.io/name=${name}${INSTANCE ? `,app.kubernetes.io/instance=${INSTANCE}` : ""}`;
export const matches = (wanted: Record<string, string> = {}, labels: Record<string, string> = {}) =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);
/** As kubectl names it. */
export const named = ({ kind, metadata }: Item) => `${kind.toLowerCase()}/${metadata.name}`;
export const condition = (status: Item["status"], type: string) =>
  status?.conditions?.find((one: { type: string }) => one.type === type);
export const isReady = ({ metadata, status }: Item) =>
  !metadata.deletionTimestamp && condition(status, "Ready")?.status === "True";
/** Where the proxy reaches a replica of the spool. */
export const addressOf = ({ status: { podIP } }: Item) => `${podIP.includes(":") ? `[${podIP}]` : podIP}:8082`;

/** What verify.sh has collected. */
export class Facts {
  readonly #sections: Map<string, string>;
  readonly items: Item[];
  readonly nodes: Item[];
  constructor(collected: string) {
    const parts = `\n${collected}`.split("\n== ").slice(1);
    this.#sections = new Map(parts.map((part) => [part.split("\n", 1)[0] ?? "", part.replace(/^.*\n/, "").trim()]));
    const list = (name: string): Item[] => (this.section(name) ? JSON.parse(this.section(name)).items : []);
    this.items = list("objects");
    this.nodes = list("nodes");
  }
  /** The text of a section; `error NAME` is why NAME could not be read. */
  section(name: string): string {
    return this.#sections.get(name) ?? "";
  }
  of(...kinds: string[]): Item[] {
    return this.items.filter(({ kind }) => kinds.includes(kind));
  }
  workloads(): Item[] {
    return this.of("Deployment", "StatefulSet");
  }
  /** A role's pods that serve: ready, and not terminating. Only these are asked. */
  serving(name: string): Item[] {
    return this.of("Pod").filter((pod) => role(pod) === name && isReady(pod));
  }
  /** One pod of each role, and every spool. */
  asked(): Item[] {
    return ["proxy", "web"].flatMap((name) => this.serving(name).slice(0, 1)).concat(this.serving("spool"));
  }
}

/** What a pod said; nothing if it could not be asked. */
export function answerOf(facts: Facts, pod: Item): Answer[] {
  const said = facts.section(pod.metadata.name);
  const answer: Answer = { pod, settings: {}, asked: {}, dns: 0, queued: {} };
  if (said.startsWith("{")) return [{ ...answer, ...JSON.parse(said) }];
  answer.certificate = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/.exec(said)?.[0];
  for (const [word, key = "", first = "", ...rest] of said.split("\n").map((line) => line.split(" "))) {
    if (word === "set") answer.settings[key] = [first, ...rest].join(" ");
    if (word === "dns" || word === "metrics") answer[word] = Number(key);
    if (word === "queued") answer.queued[key] = (answer.queued[key] ?? 0) + Number(first);
    const [status, connected, verified, outcome = ""] = rest;
    const isConnected = Number(connected) > 0;
    if (word === "ask")
      answer.asked[key] = {
        end: Number(first),
        status: Number(status),
        isConnected,
        verified: Number(verified),
        outcome,
      };
  }
  return said ? [answer] : [];
}
