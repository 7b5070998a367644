import { readFileSync } from "node:fs";

/** What the checks read of an object. */
export interface Item {
  metadata: {
    name: string;
    generation?: number;
    labels?: Record<string, string>;
    deletionTimestamp?: string;
  };
  // biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read as the API documents them
  spec?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  status?: any;
  data?: Record<string, string>;
  endpoints?: { conditions?: { ready?: boolean } }[];
}

const account = "/var/run/secrets/kubernetes.io/serviceaccount";
const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "443" } = process.env;
const server = process.env.API_SERVER ?? `https://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** The namespace of the deployment, which is that of this pod. */
export const namespace = process.env.NAMESPACE ?? "culvert";

// Read each time, because kubelet replaces it.
const authorization = () => `Bearer ${readFileSync(process.env.TOKEN_FILE ?? `${account}/token`, "utf8").trim()}`;

const groups: Record<string, string> = {
  deployments: "apis/apps/v1",
  statefulsets: "apis/apps/v1",
  horizontalpodautoscalers: "apis/autoscaling/v2",
  networkpolicies: "apis/networking.k8s.io/v1",
  endpointslices: "apis/discovery.k8s.io/v1",
  podmonitors: "apis/monitoring.coreos.com/v1",
};

/** The objects of one kind, by its plural, in the namespace; none if the cluster has no such kind. Throws if they cannot be read. */
export async function list(kind: string, labels = ""): Promise<Item[]> {
  const path = `${groups[kind] ?? "api/v1"}/namespaces/${namespace}/${kind}?labelSelector=${encodeURIComponent(labels)}`;
  const response = await fetch(`${server}/${path}`, { headers: { authorization: authorization() } });
  if (response.status === 404) return [];
  if (!response.ok) throw new Error(`${kind} cannot be read: the API server responds ${response.status}`);
  return ((await response.json()) as { items: Item[] }).items;
}

/** Asks until the answer is enough, or the deadline is over; returns the last answer. */
export async function until<T>(deadline: number, ask: () => Promise<T>, isEnough: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isEnough(answer) || Date.now() > deadline) return answer;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** The kit's own container of a pod, which a cluster may have given sidecars. */
export const container = ({ metadata, spec }: Item) =>
  // biome-ignore lint/suspicious/noExplicitAny: as in Item
  spec.containers.find(({ name }: any) => name === metadata.labels?.["app.kubernetes.io/name"]) ?? spec.containers[0];

/** The end of a command in a container. */
export interface Ended {
  code: number;
  output: string;
}

/** Runs a command in a pod's own container, as `kubectl exec` does: https://kubernetes.io/docs/reference/using-api/websockets/ */
export function exec(pod: Item, ...command: string[]): Promise<Ended> {
  const query = new URLSearchParams({ container: container(pod).name, stdout: "true", stderr: "false" });
  for (const part of command) query.append("command", part);
  const path = `api/v1/namespaces/${namespace}/pods/${pod.metadata.name}/exec?${query}`;
  return new Promise((resolve) => {
    const socket = new WebSocket(`${server.replace(/^http/, "ws")}/${path}`, {
      protocols: ["v4.channel.k8s.io"],
      headers: { authorization: authorization() },
    });
    socket.binaryType = "arraybuffer";
    let output = "";
    let code = -1;
    socket.addEventListener("message", ({ data }) => {
      const [channel, ...bytes] = new Uint8Array(data as ArrayBuffer);
      const text = Buffer.from(bytes).toString();
      if (channel === 1) output += text;
      if (channel === 3) code = exitCode(text);
    });
    const end = () => resolve({ code, output });
    socket.addEventListener("close", end);
    socket.addEventListener("error", end);
  });
}

/** The exit code in the Status that ends a command; -1 if the command did not run. */
function exitCode(status: string): number {
  const { status: state, details } = JSON.parse(status);
  if (state === "Success") return 0;
  const cause = details?.causes?.find(({ reason }: { reason: string }) => reason === "ExitCode");
  return cause ? Number(cause.message) : -1;
}
