import { describe, expect, test } from "vitest";
import { type End, reaches } from "./lib/network.ts";
import { of, type Resource } from "./lib/objects.ts";
import { folders } from "./lib/paths.ts";
import { canRender, rendering, renderWith } from "./lib/render.ts";

const inside = (namespace: string, labels: Record<string, string> = {}): End => ({ namespace, labels });
const named = (name: string) => inside("culvert", { "app.kubernetes.io/name": name });

const ends: Record<string, End> = {
  client: { address: "203.0.113.7" },
  "client v6": { address: "2001:db8::7" },
  "another namespace": inside("shop"),
  Prometheus: inside("monitoring"),
  "another pod": named("another"),
  proxy: named("proxy"),
  web: named("web"),
  "web-previous": named("web-previous"),
  spool: named("spool"),
  cache: named("cache"),
  ingest: named("ingest"),
  k6: inside("culvert", { app: "k6", k6_cr: "loadtest" }),
  "k6-operator": inside("k6-operator-system"),
};

const targets: Record<string, [End, number, string?]> = {
  "proxy:8443": [named("proxy"), 8443],
  "proxy:8443 UDP": [named("proxy"), 8443, "UDP"],
  "proxy:8080": [named("proxy"), 8080],
  "proxy:8081": [named("proxy"), 8081],
  "proxy:8083": [named("proxy"), 8083],
  "web:3000": [named("web"), 3000],
  "web:9229": [named("web"), 9229],
  "web-previous:3000": [named("web-previous"), 3000],
  "spool:8082": [named("spool"), 8082],
  "cache:6379": [named("cache"), 6379],
  "ingest:8969": [named("ingest"), 8969],
  "k6:6565": [inside("culvert", { app: "k6", k6_cr: "loadtest" }), 6565],
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

const published = ["proxy:8443", "proxy:8443 UDP", "proxy:8080"];
const dns = ["dns", "dns by TCP", "the node's DNS cache"];
const https = Object.keys(targets).filter((name) => targets[name]?.[1] === 443);
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
  spool: ingests,
  cache: [],
  ingest: [],
  k6: ["proxy:8443", "k6:6565", ...dns, ...https],
  "k6-operator": [...published, "k6:6565"],
};

/** What each end reaches, if one of the two is in the namespace; other connections do not matter here. */
function matrix(objects: Resource[]): Record<string, string[]> {
  const isInside = (end: End) => "namespace" in end && end.namespace === "culvert";
  const reached = (from: End) =>
    Object.entries(targets)
      .filter(([, [to]]) => isInside(from) || isInside(to))
      .filter(([, [to, port, protocol]]) => reaches(objects, from, to, port, protocol))
      .map(([target]) => target);
  return Object.fromEntries(Object.entries(ends).map(([name, from]) => [name, reached(from)]));
}

describe.skipIf(!canRender)("network policies", () => {
  const components = ["network-policy", "local-ingest", "loadtest"];

  test("allow the request path, and nothing else", () => {
    expect(matrix(renderWith([...components, "default-deny"]))).toEqual(expected);
  });

  test("without default-deny, restrict Culvert's own pods only", () => {
    const another = Object.keys(targets).filter((name) => !/^(web|spool|cache|ingest|k6)|^proxy:808[13]/.test(name));
    expect(matrix(renderWith(components))).toEqual({ ...expected, "another pod": another });
  });

  test("no other component blocks a connection by its own policies", () => {
    for (const component of folders("components").filter((name) => !/network-policy|default-deny|loadtest/.test(name)))
      expect(of(rendering(`base + ${component}`), "NetworkPolicy"), component).toEqual([]);
  });
});
