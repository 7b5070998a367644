import { describe, expect, test } from "vitest";
import { hasHelm, images, rendering, template } from "./lib/chart.ts";
import { type End, reaches } from "./lib/network.ts";
import type { Resource } from "./lib/objects.ts";

const inside = (namespace: string, labels: Record<string, string> = {}): End => ({ namespace, labels });
const labels = { "app.kubernetes.io/instance": "culvert", "app.kubernetes.io/part-of": "culvert" };
const named = (name: string) => inside("culvert", { ...labels, "app.kubernetes.io/name": name });

const own = "proxy web web-previous spool cache ingest".split(" ");
const ends: Record<string, End> = {
  client: { address: "203.0.113.7" },
  "client v6": { address: "2001:db8::7" },
  ...{ "another namespace": inside("shop"), Prometheus: inside("monitoring"), Traefik: inside("traefik") },
  ...Object.fromEntries(own.map((name) => [name, named(name)])),
  ...{ "another pod": named("another"), "helm test": named("test") },
  "web of another release": inside("culvert", {
    ...{ ...labels, "app.kubernetes.io/instance": "blog", "app.kubernetes.io/name": "web" },
  }),
};

const ports = "proxy:8443 proxy:8080 proxy:8081 proxy:8083 web:3000 web:9229 web-previous:3000 spool:8082 cache:6379";
const targets: Record<string, [End, number, string?]> = {
  ...Object.fromEntries(
    `${ports} ingest:8969`.split(" ").map((one) => [one, [named(one.split(":")[0] ?? ""), Number(one.split(":")[1])]]),
  ),
  "proxy:8443 UDP": [named("proxy"), 8443, "UDP"],
  dns: [inside("kube-system", { "k8s-app": "kube-dns" }), 53, "UDP"],
  "dns by TCP": [inside("kube-system", { "k8s-app": "kube-dns" }), 53],
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

/** The connections that each end may open. All others must be blocked. */
const expected: Record<string, string[]> = {
  client: published,
  "client v6": published,
  "another namespace": published,
  Prometheus: [...published, "proxy:8081", "spool:8082"],
  "another pod": [],
  proxy: ["web:3000", "web-previous:3000", "spool:8082", ...ingests],
  web: ["proxy:8083", "spool:8082", "cache:6379", ...dns],
  "web-previous": ["proxy:8083", "spool:8082", "cache:6379", ...dns],
  ...{ spool: ingests, cache: [], ingest: [] },
  "helm test": ["proxy:8443", "proxy:8080", ...dns],
  "web of another release": [],
  Traefik: published,
};

/** What each end reaches, if one of the two is in the namespace; other connections do not matter here. */
function matrix(objects: Resource[]): Record<string, string[]> {
  const isInside = (end: End) => "namespace" in end && end.namespace === "culvert";
  const reached = (from: End) =>
    Object.entries(targets)
      .filter(([, [to]]) => isInside(from) || isInside(to))
      .filter(([, [to, port, protocol]]) => reaches(objects, from, to, port, protocol))
      .map(([target]) => target)
      .sort();
  return Object.fromEntries(Object.entries(ends).map(([name, from]) => [name, reached(from)]));
}

const sorted = (all: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(all).map(([end, targets]) => [end, targets.toSorted()]));

describe.skipIf(!hasHelm)("policies", () => {
  test("allow the request path and nothing else", () => {
    expect(matrix(rendering("everything"))).toEqual(sorted(expected));
  });

  test("without default-deny, restrict Culvert's own pods only", () => {
    const another = Object.keys(targets).filter((name) => !/^(web|spool|cache|ingest)|^proxy:808[13]/.test(name));
    const more = { cache: { enabled: true }, localIngest: { enabled: true, image: { tag: "1.0.0" } } };
    const found = matrix(template([images("1.0.0"), more]));
    expect(found).toEqual(sorted({ ...expected, "another pod": another, "web of another release": another }));
  });

  test("behind a front, let in nothing but the front and helm test", () => {
    const found = matrix(rendering("ingress"));
    const entry = Object.keys(found).filter((end) => found[end]?.some((target) => published.includes(target)));
    expect(entry).toEqual(["Traefik", "helm test"]);
  });
});
