import { beforeAll, describe, expect, test } from "vitest";
import { type End, reaches } from "./lib/network.ts";
import { of, type Resource } from "./lib/objects.ts";
import { folders } from "./lib/paths.ts";
import { canRender, rendering, renderWith } from "./lib/render.ts";

const inside = (namespace: string, labels: Record<string, string>): End => {
  return { namespace, namespaceLabels: { "kubernetes.io/metadata.name": namespace }, labels };
};
const named = (name: string) => inside("culvert", { "app.kubernetes.io/name": name });

const ends: Record<string, End> = {
  client: { address: "203.0.113.7" },
  "client v6": { address: "2001:db8::7" },
  "another namespace": inside("shop", {}),
  Prometheus: inside("monitoring", {}),
  "another pod": named("another"),
  proxy: named("proxy"),
  web: named("web"),
  spool: named("spool"),
  cache: named("cache"),
  ingest: named("ingest"),
};

const targets: Record<string, [End, number, string?]> = {
  "proxy:8443": [named("proxy"), 8443],
  "proxy:8443 UDP": [named("proxy"), 8443, "UDP"],
  "proxy:8080": [named("proxy"), 8080],
  "proxy:8081": [named("proxy"), 8081],
  "proxy:8083": [named("proxy"), 8083],
  "web:3000": [named("web"), 3000],
  "web:9229": [named("web"), 9229],
  "spool:8082": [named("spool"), 8082],
  "cache:6379": [named("cache"), 6379],
  "ingest:8969": [named("ingest"), 8969],
  dns: [inside("kube-system", { "k8s-app": "kube-dns" }), 53, "UDP"],
  "dns by TCP": [inside("kube-system", { "k8s-app": "kube-dns" }), 53],
  "the node's DNS cache": [{ address: "169.254.20.10" }, 53, "UDP"],
  "kube-system:443": [inside("kube-system", {}), 443],
  "sentry.io:443": [{ address: "198.51.100.9" }, 443],
  "sentry.io:443 v6": [{ address: "2001:db8::9" }, 443],
  "sentry.io:80": [{ address: "198.51.100.9" }, 80],
  "cloud metadata": [{ address: "169.254.169.254" }, 443],
  "a node": [{ address: "10.0.0.4" }, 443],
  "another namespace": [inside("shop", {}), 443],
};

const published = ["proxy:8443", "proxy:8443 UDP", "proxy:8080"];
const dns = ["dns", "dns by TCP", "the node's DNS cache"];
const ingests = ["ingest:8969", ...dns, "sentry.io:443", "sentry.io:443 v6"];

/** The connections that each end may open. All others must be blocked. */
const expected: Record<string, string[]> = {
  client: published,
  "client v6": published,
  "another namespace": published,
  Prometheus: [...published, "proxy:8081", "spool:8082"],
  "another pod": [],
  proxy: ["web:3000", "spool:8082", ...ingests],
  web: ["proxy:8083", "spool:8082", "cache:6379", ...dns],
  spool: ingests,
  cache: [],
  ingest: [],
};

/** What a client reaches without policies: every pod. */
const pods = Object.keys(targets).filter((name) => /^(proxy|web|spool|cache|ingest)/.test(name));

/** What each end reaches, if one of the two is in the namespace; other connections do not matter here. */
function matrix(objects: Resource[]): Record<string, string[]> {
  const isInside = (end: End) => "namespace" in end && end.namespace === "culvert";
  return Object.fromEntries(
    Object.entries(ends).map(([name, from]) => [
      name,
      Object.entries(targets)
        .filter(([, [to]]) => isInside(from) || isInside(to))
        .filter(([, [to, port, protocol]]) => reaches(objects, from, to, port, protocol))
        .map(([target]) => target),
    ]),
  );
}

describe.skipIf(!canRender)("network policies", () => {
  let objects: Resource[];
  beforeAll(() => {
    objects = renderWith(["network-policy", "default-deny", "local-ingest"]);
  });

  test("allow the request path, and nothing else", () => {
    expect(matrix(objects)).toEqual(expected);
  });

  test("no policy can be removed without changing the matrix", () => {
    const kept = (name: string) =>
      objects.filter(({ kind, metadata }) => kind !== "NetworkPolicy" || metadata.name !== name);
    const names = objects.filter(({ kind }) => kind === "NetworkPolicy").map(({ metadata }) => metadata.name);
    const unused = names.filter((name) => JSON.stringify(matrix(kept(name))) === JSON.stringify(matrix(objects)));
    expect(unused).toEqual([]);
  });

  test("no other component blocks a connection by its own policies", () => {
    for (const component of folders("components").filter((name) => !/network-policy|default-deny/.test(name))) {
      const alone = matrix(rendering(`base + ${component}`));
      expect([component, alone.client, alone.proxy], "everything open").toEqual([
        component,
        pods,
        Object.keys(targets),
      ]);
    }
  });

  test("without default-deny, only Culvert's own pods are restricted", () => {
    const own = renderWith(["network-policy", "local-ingest"]);
    const found = matrix(own);
    expect(
      Object.fromEntries(["client", "proxy", "web", "spool", "cache", "ingest"].map((name) => [name, found[name]])),
    ).toEqual(
      Object.fromEntries(["client", "proxy", "web", "spool", "cache", "ingest"].map((name) => [name, expected[name]])),
    );
    expect(reaches(own, named("another"), ends.client ?? named("another"), 443)).toBe(true);
  });

  test("every policy that allows DNS has the same DNS rule", () => {
    const rules = of(renderWith(["network-policy", "loadtest"]), "NetworkPolicy").flatMap(
      ({ spec }) => spec?.egress ?? [],
    );
    const dns = rules.filter(({ ports }) => ports?.some(({ port }) => port === 53)).map((rule) => JSON.stringify(rule));
    expect([dns.length, new Set(dns).size]).toEqual([4, 1]);
  });

  test("the load test's pods reach the site and one another, and only their operator reaches them", () => {
    const both = renderWith(["network-policy", "loadtest"]);
    const k6 = inside("culvert", { app: "k6", k6_cr: "loadtest" });
    const operator = inside("k6-operator-system", {});
    const open = (from: End, to: End, port: number) => reaches(both, from, to, port);
    expect([open(k6, named("proxy"), 8443), open(k6, k6, 6565), open(operator, k6, 6565)]).toEqual([true, true, true]);
    expect([open(k6, named("web"), 3000), open(named("web"), k6, 6565), open(k6, named("proxy"), 8081)]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
