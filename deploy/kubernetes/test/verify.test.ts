import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePair } from "../../test/support/certificate.ts";
import { hasHelm, images, template } from "./lib/chart.ts";
import { docker, hasImages } from "./lib/docker.ts";
import { healthy, startJobs, verify, type World } from "./lib/fake-cluster.ts";
import { find, of, type Resource } from "./lib/objects.ts";
import { canRender, rendering } from "./lib/render.ts";

type Change = (world: World) => void;

const set =
  (change: Partial<World>): Change =>
  (world) =>
    Object.assign(world, change);
/** Without the objects whose "Kind/name" matches. */
const without =
  (pattern: RegExp): Change =>
  (world) => {
    const kept = world.objects.filter(({ kind, metadata }) => !pattern.test(`${kind}/${metadata.name}`));
    expect(kept.length).toBeLessThan(world.objects.length);
    world.objects = kept;
  };
/** With these settings in the proxy's ConfigMap. */
const setting =
  (settings: Record<string, string>): Change =>
  ({ objects }) =>
    Object.assign(find(objects, "ConfigMap", "proxy-settings").data ?? {}, settings);
/** A workload without a serving pod; its pods have this status. */
const broken =
  (kind: string, name: string, status: object = {}): Change =>
  ({ objects }) => {
    find(objects, kind, name).status.availableReplicas = 0;
    for (const pod of of(objects, "Pod").filter(({ metadata }) => metadata.name.startsWith(`${name}-`)))
      pod.status = { conditions: [{ type: "Ready", status: "False" }], ...status };
  };
/** A first deployment, in which proxies are not ready before web. */
const first =
  (fault: Change): Change =>
  (world) => {
    fault(world);
    broken("Deployment", "proxy")(world);
  };
const waiting = (reason: string, message = "") => {
  const terminated = { message: "culvert: X: bad\nculvert: SPOOL_RATE: 'x' is no number: use one\n" };
  return { containerStatuses: [{ name: "spool", state: { waiting: { reason, message } }, lastState: { terminated } }] };
};
const ready = (type: string, message: string) => ({ conditions: [{ type, status: "False", message }] });
let folder: string;
const pair = (name: string) => ({
  key: readFileSync(join(folder, `${name}.key`), "utf8"),
  cert: readFileSync(join(folder, `${name}.crt`), "utf8"),
});
const noWeb = without(/^(Deployment|Pod)\/web/);
const noImage = broken("Deployment", "web", waiting("ImagePullBackOff", "not found"));
const overridden =
  (source: object, change: Change): Change =>
  (world) => {
    for (const { spec } of of(world.objects, "Pod")) spec.containers[0].envFrom.push(source);
    change(world);
  };

const faults: [what: string, fault: Change, line: RegExp, env?: Record<string, string>][] = [
  ["the Service web is deleted", without(/^Service\/web$/), /^Service web: missing/],
  ["the Service proxy is deleted", without(/^Service\/proxy$/), /^Service proxy: missing/],
  [
    "a Service selects nothing",
    ({ objects }) => (find(objects, "Service", "spool").spec.selector = { app: "x" }),
    /^Service spool: selects no ready pod: its selector is \{"app":"x"\}/,
  ],
  [
    "the second host name is not in the certificate",
    setting({ SERVER_NAME: "app.example.com www.example.com" }),
    /^certificate: not for www.example.com, but for DNS:app.example.com/,
  ],
  [
    "the certificate has expired",
    (world) => (world.certificate = pair("expired")),
    /^certificate: expired on .*: change/,
  ],
  ["policies are deleted", without(/^NetworkPolicy\/(web|default-deny)$/), /^network policies: none restricts web's/],
  ["a ConfigMap was edited", set({ started: { TUNNEL_PATH: "/before" } }), /^ConfigMap telemetry-.*: TUNNEL_PATH was/],
  ["the spool's ConfigMap was edited", set({ started: { SPOOL_RATE: "7" } }), /^ConfigMap spool-.*: SPOOL_RATE was/],
  ["DNS is missing", set({ dns: { proxy: "refused", web: "refused" } }), /^DNS: pods resolve no names/],
  ["a policy blocks web's DNS", set({ dns: { web: "dropped" } }), /^DNS: pods resolve no names/],
  [
    "the spool crashes",
    broken("StatefulSet", "spool", waiting("CrashLoopBackOff")),
    /^spool: crash loop: culvert: SPOOL_RATE: 'x' is no number: use one: kubectl -n culvert logs spool-0 -c spool --previous/,
  ],
  ["an image cannot be pulled", noImage, /^web: ImagePullBackOff: not found/],
  [
    "a Secret is missing",
    broken("Deployment", "proxy", waiting("CreateContainerConfigError", 'secret "sentry" not found')),
    /^proxy: CreateContainerConfigError: secret "sentry" not found/,
  ],
  [
    "a Secret that is mounted is missing",
    broken("Deployment", "proxy", waiting("ContainerCreating")),
    /^proxy: 0 of \d pods are available: is one of these missing: kubectl -n culvert get secret\/proxy-tls$/,
  ],
  ["in a first deployment, web's image cannot be pulled", first(noImage), /^web: ImagePullBackOff: not found/],
  ["in a first deployment, web is missing", first(noWeb), /^Deployment web: missing/],
  [
    "no node has room",
    broken("Deployment", "web", ready("PodScheduled", "0/2 nodes are available")),
    /^web: 0 of 2 pods are available: 0\/2 nodes/,
  ],
  [
    "web is at zero",
    (world) => {
      broken("Deployment", "web")(world);
      find(world.objects, "Deployment", "web").spec.replicas = 0;
    },
    /^web: scaled to 0/,
  ],
  ["web is not deployed", noWeb, /^Deployment web: missing/],
  [
    "a policy blocks the spool",
    set({ blocked: ["proxy spool:8082"] }),
    /^proxy → spool: no connection within 5 s: does/,
  ],
  [
    "one blocks the server's events",
    set({ blocked: ["web server-tunnel:8083"] }),
    /^web → server-tunnel: no connection/,
  ],
  ["a page fails", set({ pages: { "*": 503 } }), /^page \/healthz: 503/],
  ["the page of PAGE is missing", set({ pages: { "/shop": 404 } }), /^page \/shop: 404/, { PAGE: "/shop" }],
  [
    "an object of EXPECT is missing",
    without(/^NetworkPolicy\/default-deny$/),
    /^networkpolicies\/default-deny: missing: apply/,
    { EXPECT: "networkpolicies/proxy networkpolicies/default-deny" },
  ],
  ["the ingest is blocked", set({ ingest: { acknowledges: false, exit: 28 } }), /^envelope: not .*: allow its address/],
  ["the ingest's CA is unknown", set({ ingest: { acknowledges: false, exit: 60 } }), /^envelope: not .* private CA/],
  ["envelopes are rejected", (world) => (world.envelopes.own = 403), /^envelope: 403, not 200/],
  ["the tunnel is an open relay", (world) => (world.envelopes.foreign = 200), /^envelope for a foreign project: 200/],
  ["the spool's disk is full", (world) => (world.envelopes.spool = 503), /^spool: 503, not 200/],
  [
    "the autoscaler has no metrics",
    ({ objects }) => (find(objects, "HorizontalPodAutoscaler", "web").status = ready("ScalingActive", "no metrics")),
    /^autoscaler web: no metrics: is metrics-server installed/,
  ],
];

const good: [what: string, change: Change][] = [
  ["after the first deployment", () => {}],
  ["with the console off, whose page is 404", set({ pages: { "*": 404 } })],
  ["with an app that answers every path", set({ pages: { "*": 200 } })],
  ["with two host names", setting({ SERVER_NAME: "app.example.com,  example.com" })],
  ["without policies", without(/^NetworkPolicy/)],
  ["without a spool", without(/\/spool/)],
  ["without autoscalers", without(/^HorizontalPodAutoscaler/)],
  [
    "while a pod of the old release terminates",
    ({ objects }) => {
      const old = structuredClone(find(objects, "Pod", "web-0"));
      Object.assign(old.metadata, { name: "web-old", deletionTimestamp: "2026-01-01T00:00:00Z" });
      objects.push(old);
    },
  ],
  [
    "with a ConfigMap of the team's that overrides a setting",
    overridden({ configMapRef: { name: "team" } }, ({ objects }) =>
      objects.push({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "team" }, data: { HSTS_MAX_AGE: "60" } }),
    ),
  ],
  [
    "with a Secret of the team's that overrides a setting",
    overridden({ secretRef: { name: "team" } }, set({ started: { TUNNEL_PATH: "/secret" } })),
  ],
  [
    "with a sidecar in each pod",
    ({ objects }) => {
      for (const { spec } of of(objects, "Pod")) spec.containers.unshift({ name: "istio-proxy" });
    },
  ],
  [
    "during a scale-up",
    ({ objects }) => {
      const web = find(objects, "Deployment", "web");
      web.spec.replicas += 1;
      setTimeout(() => Object.assign(web.status, { updatedReplicas: 3, availableReplicas: 3 }), 1000);
    },
  ],
];

describe.skipIf(!canRender || !hasImages("spool"))("the checks of make verify-cluster", () => {
  let manifests: Resource[];
  let jobs: string;
  const production = (): World => ({
    objects: healthy(manifests),
    dns: {},
    blocked: [],
    pages: { "/culvert-verify-no-such-page": 404 },
    ingest: { acknowledges: true, exit: 0 },
    envelopes: { own: 200, foreign: 403, spool: 200 },
    certificate: pair("site"),
    started: {},
  });
  const failures = async (world: World, env = {}) => {
    const { code, lines } = await verify(jobs, world, env);
    const failed = lines.filter((line) => line.startsWith("FAILED")).map((line) => line.slice(9));
    expect([code, lines.at(-1)], lines.join("\n")).toEqual([1, `culvert: ${failed.length} of the checks failed`]);
    return failed;
  };

  beforeAll(() => {
    manifests = rendering("production");
    jobs = startJobs();
    folder = mkdtempSync(join(tmpdir(), "culvert-verify-"));
    makePair(join(folder, "site"), ["app.example.com", "example.com"]);
    makePair(join(folder, "expired"), ["app.example.com"]);
    const expire = "x509 -days 0 -in expired.crt -signkey expired.key -out expired.crt";
    execFileSync("openssl", expire.split(" "), { cwd: folder, stdio: "pipe" });
  });
  afterAll(() => {
    docker("rm", "-f", jobs);
    rmSync(folder, { recursive: true });
  });

  test.each(faults)("if %s: one line says so", async (_, fault, line, env) => {
    const world = production();
    fault(world);
    expect(await failures(world, env)).toEqual([expect.stringMatching(line)]);
  });

  test("if policies are not enforced: one line says so", async () => {
    const probes = createServer();
    await new Promise<void>((resolve) => probes.listen(8081, "127.85.4.3", resolve));
    const found = await failures(production()).finally(() => probes.close());
    expect(found).toEqual([expect.stringMatching(/network policies: not enforced/)]);
  });

  test.skipIf(!hasHelm)("of several releases in the namespace, that of INSTANCE is checked", async () => {
    const settings = { SERVER_NAME: "app.example.com" };
    const [shop = [], blog = []] = ["shop", "blog"].map((release) =>
      healthy(template([images("1.0.0"), { settings }], { release })),
    );
    for (const one of blog) if (one.kind !== "Pod") one.status = { conditions: [] };
    for (const { spec } of of(shop, "Pod")) spec.nodeName = "node-0";
    const { code, lines } = await verify(jobs, { ...production(), objects: [...shop, ...blog] }, { INSTANCE: "shop" });
    expect([code, lines.at(-1)], lines.join("\n")).toEqual([0, "culvert: all is well"]);
    for (const name of ["proxy", "web"])
      expect(lines).toContainEqual(
        expect.stringMatching(`one node.* rollout restart deployment/shop-culvert-${name}$`),
      );
  });

  test.each(good)("%s, nothing is wrong", async (_, change) => {
    const world = production();
    change(world);
    const { code, lines } = await verify(jobs, world, { WAIT_S: "60" });
    expect(lines.filter((one) => !/^(ok|skipped) /.test(one))).toEqual(["culvert: all is well"]);
    expect(code).toBe(0);
  });
});
