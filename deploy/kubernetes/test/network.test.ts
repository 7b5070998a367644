import { BlockList } from "node:net";
import { expect, test } from "vitest";
import { images, rendering, template } from "./lib/chart.ts";
import { matches, of, type Part, type Resource } from "./lib/objects.ts";

const home = "culvert";

type Pod = { namespace: string; labels: Record<string, string> };
/** One end of a connection: a pod with labels in a namespace, or an address that is no pod's. */
type End = Pod | { address: string };
const isHome = (end: End): end is Pod => "namespace" in end && end.namespace === home;

/**
 * Whether the NetworkPolicies among the objects let `from` open a connection to `to` on a port, as the API defines it:
 * a pod allows all connections until a policy selects it in that direction; then only those that some policy allows. Both
 * ends must allow it. https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
function reaches(objects: Resource[], from: End, to: End, port: number, protocol = "TCP"): boolean {
  const allows = (own: End, other: End, type: "Ingress" | "Egress") => {
    const policies = of(objects, "NetworkPolicy").filter(({ spec }) => spec.policyTypes.includes(type));
    const mine = policies.filter(({ spec }) => isHome(own) && selects(spec.podSelector, own.labels));
    const isAllowed = ({ from: peers, to = peers, ports }: Part) =>
      // An empty list allows all, as none does.
      (!ports?.length || ports.some((one: Part) => one.port === port && one.protocol === protocol)) &&
      (!to?.length || to.some((peer: Part) => isPeer(peer, other)));
    return mine.length === 0 || mine.some(({ spec }) => (spec[type.toLowerCase()] ?? []).some(isAllowed));
  };
  return allows(from, to, "Egress") && allows(to, from, "Ingress");
}

function isPeer({ ipBlock, namespaceSelector, podSelector }: Part, other: End): boolean {
  if ("address" in other)
    return ipBlock && contains([ipBlock.cidr], other.address) && !contains(ipBlock.except ?? [], other.address);
  const isThere = namespaceSelector
    ? selects(namespaceSelector, { "kubernetes.io/metadata.name": other.namespace })
    : other.namespace === home;
  return !ipBlock && isThere && selects(podSelector ?? {}, other.labels);
}

function contains(blocks: string[], address: string): boolean {
  const family = (one: string) => (one.includes(":") ? "ipv6" : "ipv4");
  const list = new BlockList();
  for (const [network = "", prefix] of blocks.map((one) => one.split("/")))
    if (family(network) === family(address)) list.addSubnet(network, Number(prefix), family(network));
  return list.check(address, family(address));
}

function selects({ matchLabels, matchExpressions = [] }: Part, labels: Record<string, string>): boolean {
  const isIn = ({ key, operator, values }: Part) => {
    if (operator !== "In") throw new Error(`${operator}: teach network.ts`);
    return values.includes(labels[key]);
  };
  return matches(matchLabels, labels) && matchExpressions.every(isIn);
}

const inside = (namespace: string, labels: Record<string, string> = {}): End => ({ namespace, labels });
const labels = (name: string, instance = "culvert") => ({
  ...{ "app.kubernetes.io/instance": instance, "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "culvert" },
});
const named = (name: string, instance?: string) => inside("culvert", labels(name, instance));
const dnsPods = inside("kube-system", { "k8s-app": "kube-dns" });

const targets: Record<string, [End, number, string?]> = {
  ...Object.fromEntries(
    "proxy:8443 proxy:8080 proxy:8081 proxy:8083 web:3000 web:9229 web-previous:3000 spool:8082 cache:6379 ingest:8969"
      .split(" ")
      .map((one) => [one, [named(one.split(":")[0] ?? ""), Number(one.split(":")[1])]]),
  ),
  "proxy:8443 UDP": [named("proxy"), 8443, "UDP"],
  ...{ dns: [dnsPods, 53, "UDP"], "dns by TCP": [dnsPods, 53] },
  "the node's DNS cache": [{ address: "169.254.20.10" }, 53, "UDP"],
  "kube-system:443": [inside("kube-system"), 443],
  "sentry.io:443": [{ address: "198.51.100.9" }, 443],
  "sentry.io:443 v6": [{ address: "2001:db8::9" }, 443],
  "sentry.io:80": [{ address: "198.51.100.9" }, 80],
  "cloud metadata": [{ address: "169.254.169.254" }, 443],
  "a node": [{ address: "10.0.0.4" }, 443],
  "another namespace": [inside("shop"), 443],
};

const published = ["proxy:8443", "proxy:8080", "proxy:8443 UDP"];
const dns = ["dns", "dns by TCP", "the node's DNS cache"];
const ingests = ["ingest:8969", ...dns, "sentry.io:443", "sentry.io:443 v6"];
const ofWeb = ["proxy:8083", "spool:8082", "cache:6379", ...dns];
/** The connections that each end may open. All others must be blocked. */
const expected: Record<string, [End, string[]]> = {
  client: [{ address: "203.0.113.7" }, published],
  "client v6": [{ address: "2001:db8::7" }, published],
  "another namespace": [inside("shop"), published],
  Traefik: [inside("traefik"), published],
  Prometheus: [inside("monitoring"), [...published, "proxy:8081", "spool:8082"]],
  proxy: [named("proxy"), ["web:3000", "web-previous:3000", "spool:8082", ...ingests]],
  web: [named("web"), ofWeb],
  "web-previous": [named("web-previous"), ofWeb],
  spool: [named("spool"), ingests],
  cache: [named("cache"), []],
  ingest: [named("ingest"), []],
  "helm test": [named("test"), ["proxy:8443", "proxy:8080", "proxy:8083", ...dns]],
  "another pod": [named("another"), []],
  "web of another release": [named("web", "blog"), []],
};

/** What each end reaches, if one of the two is in the namespace; other connections do not matter here. */
function matrix(objects: Resource[]): Record<string, Set<string>> {
  const reached = (from: End) =>
    Object.entries(targets)
      .filter(([, [to]]) => isHome(from) || isHome(to))
      .filter(([, [to, port, protocol]]) => reaches(objects, from, to, port, protocol))
      .map(([target]) => target);
  return Object.fromEntries(Object.entries(expected).map(([name, [from]]) => [name, new Set(reached(from))]));
}
const wanted = Object.fromEntries(Object.entries(expected).map(([name, [, all]]) => [name, new Set(all)]));

test("policies allow the request path and nothing else", () => {
  expect(matrix(rendering("everything"))).toEqual(wanted);
});

test("without default-deny, policies restrict Culvert's own pods only", () => {
  const another = Object.keys(targets).filter((name) => !/^(web|spool|cache|ingest)|^proxy:808[13]/.test(name));
  const more = { cache: { enabled: true }, localIngest: { enabled: true, image: { tag: "1.0.0" } } };
  const open = Object.fromEntries(["another pod", "web of another release"].map((name) => [name, new Set(another)]));
  expect(matrix(template([images("1.0.0"), more]))).toEqual({ ...wanted, ...open });
});

/** What reaches a published port. */
const entries = (objects: Resource[]) => {
  const found = Object.entries(matrix(objects));
  return found.filter(([, all]) => published.some((target) => all.has(target))).map(([end]) => end);
};

test("an empty list of peers is nobody", () => {
  const none = { enabled: true, prometheus: [], dns: [], front: [] };
  const found = matrix(template([images("1.0.0"), { networkPolicy: none }]));
  const all = ["Prometheus", "proxy", "spool"].flatMap((end) => [...(found[end] ?? [])]);
  expect(all.filter((target) => /:808[123]$|dns|DNS|kube-system/.test(target))).toEqual(["spool:8082"]);
  const behind = { proxy: { service: { type: "ClusterIP" } }, settings: { TRUSTED_PROXIES: "10.244.0.0/16" } };
  const ingress = template([images("1.0.0"), behind, { ingress: { enabled: true }, networkPolicy: none }]);
  expect(entries(ingress)).toEqual(["helm test"]);
});

test("behind a front, policies let in only the front and helm test", () => {
  expect(entries(rendering("ingress"))).toEqual(["Traefik", "helm test"]);
});
