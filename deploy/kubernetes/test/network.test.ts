import { BlockList } from "node:net";
import { expect, test } from "vitest";
import { front, images, rendering, template } from "./lib/chart.ts";
import { labelsOf, matches, of, type Part, type Resource } from "./lib/objects.ts";

const home = "culvert";

type Pod = { namespace: string; labels: Record<string, string> };
/** One end of a connection: a pod with labels in a namespace, or an address that is no pod's. */
type End = Pod | { address: string };
const isHome = (end: End): end is Pod => "namespace" in end && end.namespace === home;

/**
 * Whether the policies let `from` connect to `to`, as the API defines it:
 * https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
function reaches(objects: Resource[], from: End, to: End, port: number, protocol = "TCP"): boolean {
  const allows = (end: End, other: End, type: "Ingress" | "Egress") => {
    const policies = of(objects, "NetworkPolicy").filter(({ spec }) => spec.policyTypes.includes(type));
    const mine = policies.filter(({ spec }) => isHome(end) && selects(spec.podSelector, end.labels));
    const isAllowed = ({ from: peers, to = peers, ports }: Part) =>
      // An empty list allows all, as none does.
      (!ports?.length || ports.some((entry: Part) => entry.port === port && entry.protocol === protocol)) &&
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
  const family = (ip: string) => (ip.includes(":") ? "ipv6" : "ipv4");
  const list = new BlockList();
  for (const [network = "", prefix] of blocks.map((block) => block.split("/")))
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
const named = (name: string, instance?: string) => inside("culvert", labelsOf(name, instance));
const portOf = (name: string, port: number, protocol?: string) => ({ to: named(name), port, protocol });
const dnsPods = inside("kube-system", { "k8s-app": "kube-dns" });
const sentry = { address: "198.51.100.9" };

const targets: Record<string, { to: End; port: number; protocol?: string }> = {
  "proxy:8443": portOf("proxy", 8443),
  "proxy:8443 UDP": portOf("proxy", 8443, "UDP"),
  "proxy:8080": portOf("proxy", 8080),
  "proxy:8081": portOf("proxy", 8081),
  "proxy:8083": portOf("proxy", 8083),
  "web:3000": portOf("web", 3000),
  "web:9229": portOf("web", 9229),
  "web-previous:3000": portOf("web-previous", 3000),
  "spool:8082": portOf("spool", 8082),
  "cache:6379": portOf("cache", 6379),
  "ingest:8969": portOf("ingest", 8969),
  dns: { to: dnsPods, port: 53, protocol: "UDP" },
  "dns by TCP": { to: dnsPods, port: 53 },
  "the node's DNS cache": { to: { address: "169.254.20.10" }, port: 53, protocol: "UDP" },
  "kube-system:443": { to: inside("kube-system"), port: 443 },
  "sentry.io:443": { to: sentry, port: 443 },
  "sentry.io:443 v6": { to: { address: "2001:db8::9" }, port: 443 },
  "sentry.io:80": { to: sentry, port: 80 },
  "cloud metadata": { to: { address: "169.254.169.254" }, port: 443 },
  "a node": { to: { address: "10.0.0.4" }, port: 443 },
  "another namespace": { to: inside("shop"), port: 443 },
};

const published = ["proxy:8443", "proxy:8080", "proxy:8443 UDP"];
const dns = ["dns", "dns by TCP", "the node's DNS cache"];
const ingests = ["ingest:8969", ...dns, "sentry.io:443", "sentry.io:443 v6"];
const ofWeb = ["proxy:8083", "spool:8082", "cache:6379", ...dns];
/** All other connections must be blocked. */
const expected: Record<string, { from: End; reaches: string[] }> = {
  client: { from: { address: "203.0.113.7" }, reaches: published },
  "client v6": { from: { address: "2001:db8::7" }, reaches: published },
  "another namespace": { from: inside("shop"), reaches: published },
  Traefik: { from: inside("traefik"), reaches: published },
  Prometheus: { from: inside("monitoring"), reaches: [...published, "proxy:8081", "spool:8082"] },
  proxy: { from: named("proxy"), reaches: ["web:3000", "web-previous:3000", "spool:8082", ...ingests] },
  web: { from: named("web"), reaches: ofWeb },
  "web-previous": { from: named("web-previous"), reaches: ofWeb },
  spool: { from: named("spool"), reaches: ingests },
  cache: { from: named("cache"), reaches: [] },
  ingest: { from: named("ingest"), reaches: [] },
  "helm test": { from: named("test"), reaches: ["proxy:8443", "proxy:8080", "proxy:8083", ...dns] },
  "another pod": { from: named("another"), reaches: [] },
  "web of another release": { from: named("web", "blog"), reaches: [] },
};

/** What each end reaches, if one of the two is in the namespace. */
function matrix(objects: Resource[]): Record<string, Set<string>> {
  const reached = (from: End) =>
    Object.entries(targets)
      .filter(([, { to }]) => isHome(from) || isHome(to))
      .filter(([, { to, port, protocol }]) => reaches(objects, from, to, port, protocol))
      .map(([target]) => target);
  return Object.fromEntries(Object.entries(expected).map(([name, { from }]) => [name, new Set(reached(from))]));
}
const wanted = Object.fromEntries(Object.entries(expected).map(([name, end]) => [name, new Set(end.reaches)]));

test("policies allow the request path and nothing else", () => {
  expect(matrix(rendering("everything"))).toEqual(wanted);
});

test("without default-deny, policies restrict Culvert's own pods only", () => {
  const another = Object.keys(targets).filter((name) => !/^(web|spool|cache|ingest)|^proxy:808[13]/.test(name));
  const more = { cache: { enabled: true }, localIngest: { enabled: true, image: { tag: "1.0.0" } } };
  const open = Object.fromEntries(["another pod", "web of another release"].map((name) => [name, new Set(another)]));
  expect(matrix(template([images("1.0.0"), more]))).toEqual({ ...wanted, ...open });
});

const entries = (objects: Resource[]) => {
  const found = Object.entries(matrix(objects));
  return found.filter(([, all]) => published.some((target) => all.has(target))).map(([end]) => end);
};

test("an empty list of peers is nobody", () => {
  const none = { enabled: true, prometheus: [], dns: [], front: [] };
  const found = matrix(template([images("1.0.0"), { networkPolicy: none }]));
  const all = ["Prometheus", "proxy", "spool"].flatMap((end) => [...(found[end] ?? [])]);
  expect(all.filter((target) => /:808[123]$|dns|DNS|kube-system/.test(target))).toEqual(["spool:8082"]);
  const ingress = template([images("1.0.0"), front, { ingress: { enabled: true }, networkPolicy: none }]);
  expect(entries(ingress)).toEqual(["helm test"]);
});

test("the tunnel alone lets in the front, helm test and the app's server, and nothing reaches web", () => {
  const found = matrix(rendering("tunnel alone"));
  expect(entries(rendering("tunnel alone"))).toEqual(["Traefik", "helm test"]);
  expect(Object.keys(found).filter((end) => found[end]?.has("proxy:8083"))).toEqual(["helm test", "another pod"]);
  expect(found.proxy).toEqual(new Set(["spool:8082", ...ingests]));
});

test("behind a front, policies let in only the front and helm test", () => {
  expect(entries(rendering("ingress"))).toEqual(["Traefik", "helm test"]);
});
