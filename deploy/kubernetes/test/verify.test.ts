import { execFileSync } from "node:child_process";
import { once } from "node:events";
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
const dsn = "https://0123456789abcdef@sentry.example.com/2";
const ingest =
  (change: Partial<World["ingest"]>): Change =>
  ({ ingest }) =>
    Object.assign(ingest, change);
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

/** TLS ends at an Ingress: plain HTTP reaches the proxy, which has no certificate. */
const behindIngress: Change = (world) => {
  setting({ TRUSTED_PROXIES: "10.244.0.0/16" })(world);
  for (const { spec } of of(world.objects, "Pod")) {
    const [own] = spec.containers;
    own.env = own.env?.filter(({ name }: { name: string }) => !name.startsWith("TLS_"));
  }
  world.certificate = undefined;
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
    /^certificate: www.example.com: the certificate is for app.example.com/,
  ],
  [
    "the certificate has expired",
    (world) => (world.certificate = pair("expired")),
    /^certificate: cert has expired: .*the Secret that the proxy mounts/,
  ],
  [
    "the proxy does not believe the Ingress",
    (world) => {
      behindIngress(world);
      world.pages["/"] = 308;
    },
    /^Service proxy: port \d+ redirects what says that it came over TLS: TRUSTED_PROXIES must have/,
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
    "no pod has the release that web-current selects",
    ({ objects }) => (find(objects, "Service", "web-current").spec.selector["app.kubernetes.io/version"] = "local"),
    /^Service web-current: selects no ready pod: its selector is .*local/,
  ],
  [
    "a policy blocks the release before",
    set({ blocked: ["proxy web-previous:3000"] }),
    /^proxy → web-previous: no connection within 5 s: does/,
  ],
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
  ["a page fails", set({ pages: { "*": 503 } }), /^page \/healthz: status 503/],
  ["the page of PAGE is missing", set({ pages: { "/shop": 404 } }), /^page \/shop: status 404/, { PAGE: "/shop" }],
  [
    "no command runs in web",
    set({ ended: ["web-0", "web-1"] }),
    /^web-0: its settings cannot be read: kubectl .* exec/,
  ],
  [
    "an object of EXPECT is missing",
    without(/^NetworkPolicy\/default-deny$/),
    /^networkpolicies\/default-deny: missing: apply/,
    { EXPECT: "networkpolicies/proxy networkpolicies/default-deny" },
  ],
  ["the ingest is blocked", ingest({ exit: 28 }), /^ingest: sentry.example.com does not answer .*: allow its address/],
  ["the ingest's CA is unknown", ingest({ exit: 60 }), /^ingest: sentry.example.com: unable .*: a private CA/],
  ["the key is wrong", ingest({ status: 403 }), /^ingest: .* answers 403 to a probe envelope: copy SENTRY_DSN/],
  [
    "the ingest has no such project",
    ingest({ status: 404 }),
    /^ingest: sentry.example.com \(project 2\) .* no such project/,
  ],
  ["the proxy queues what the ingest accepts", ingest({ acknowledges: false }), /^envelope: not acknowledged/],
  ["envelopes are rejected", (world) => (world.envelopes.own = 403), /^envelope: the tunnel answers 403/],
  ["the tunnel is an open relay", (world) => (world.envelopes.foreign = 200), /^foreign envelope: status 200, not 403/],
  [
    "the disk of one of the spool's replicas is full",
    (world) => (world.envelopes.spool = 503),
    /^spool-0: status 503, not 200/,
  ],
  [
    "the autoscaler has no metrics",
    ({ objects }) => (find(objects, "HorizontalPodAutoscaler", "web").status = ready("ScalingActive", "no metrics")),
    /^autoscaler web: no metrics: is metrics-server installed/,
  ],
];

/** Faults of a first deployment, or of a change: the one line, and what is skipped because of it. */
const consequences: [what: string, fault: Change, line: RegExp, skipped: RegExp, env?: Record<string, string>][] = [
  [
    "the policy default-deny is deleted, and with it DNS",
    set({ dns: { proxy: "dropped", web: "dropped" } }),
    /^NetworkPolicy\/default-deny: missing: apply/,
    /^all other checks: objects are missing/,
    { MISSING: "NetworkPolicy/default-deny" },
  ],
  [
    "a setting is edited in place, and differs from the overlay",
    (world) => {
      Object.assign(find(world.objects, "ConfigMap", "telemetry-settings").data ?? {}, { TUNNEL_PATH: "/k7" });
      world.started = { TUNNEL_PATH: "/monitoring" };
    },
    /^overlay: ConfigMap\/telemetry-settings-\w+ differs/,
    /^scraped metrics/,
  ],
  [
    "a Secret was changed, and only the proxy restarted",
    set({ dsn: { "*": `${dsn}1`, proxy: `${dsn}2`, web: `${dsn}2` } }),
    /^DSN: spool has another DSN than the other pods: kubectl -n culvert rollout restart statefulset\/spool$/,
    /^all other checks: the pods need one DSN/,
    { SENTRY_DSN: `${dsn}2` },
  ],
  [
    "the Secret has no DSN any more, but what pods do not start with",
    () => {},
    /^DSN: the Secret's is not a DSN: at its next restart, a pod does not start: copy it again/,
    /^all other checks: the pods need one DSN/,
    { SENTRY_DSN: "https://sentry.example.com/2" },
  ],
  [
    "web is not available: neither is its autoscaler",
    (world) => {
      noImage(world);
      find(world.objects, "HorizontalPodAutoscaler", "web").status = ready("ScalingActive", "no metrics");
    },
    /^web: ImagePullBackOff: not found/,
    /^autoscaler web: has no metrics: web is not available/,
  ],
  ["the ingest rejects the key: no envelope is queued", ingest({ status: 403 }), /^ingest: /, /^envelopes: /],
];

const good: [what: string, change: Change][] = [
  [
    "the release before has been ended",
    (world) => {
      find(world.objects, "Deployment", "web-previous").spec.replicas = 0;
      without(/^Pod\/web-previous/)(world);
    },
  ],
  [
    "with a Secret of the app's own, of two lines, which is not read",
    ({ objects }) => {
      const secret = { name: "PASSWORD", value: "two\nlines", valueFrom: { secretKeyRef: { name: "app" } } };
      for (const pod of of(objects, "Pod")) pod.spec.containers[0].env?.unshift(secret);
    },
  ],
  ["while the autoscaler ends a pod", set({ ended: ["web-1"] })],
  ["with an ingest that rate limits", ingest({ status: 429 })],
  [
    "with one replica of each",
    ({ objects }) => {
      for (const pod of of(objects, "Pod")) pod.spec.nodeName = "node-0";
    },
  ],
  [
    "while a proxy has just restarted",
    (world) => {
      broken("Deployment", "proxy")(world);
      const { status } = find(world.objects, "Deployment", "proxy");
      const pods = of(world.objects, "Pod").filter(({ metadata }) => metadata.name.startsWith("proxy-"));
      setTimeout(() => {
        status.availableReplicas = 2;
        for (const pod of pods) Object.assign(pod.status, { conditions: [{ type: "Ready", status: "True" }] });
      }, 1000);
    },
  ],
  ["after the first deployment", () => {}],
  ["with the console off, whose page is 404", set({ pages: { "*": 404 } })],
  ["with an app that answers every path", set({ pages: { "*": 200 } })],
  ["with two host names", setting({ SERVER_NAME: "app.example.com,  example.com" })],
  ["behind an Ingress that ends TLS", behindIngress],
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
    "while an autoscaler has no metrics yet",
    ({ objects }) => {
      const scaler = find(objects, "HorizontalPodAutoscaler", "web");
      const { status } = scaler;
      scaler.status = ready("ScalingActive", "no metrics");
      setTimeout(() => Object.assign(scaler, { status }), 1000);
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
    ingest: { acknowledges: true, status: 200, exit: 0 },
    envelopes: { own: 200, foreign: 403, spool: 200 },
    certificate: pair("site"),
    started: {},
    dsn: { "*": dsn },
    ended: [],
  });
  const failures = async (world: World, env = {}) => {
    const { code, lines } = await verify(jobs, world, env);
    const failed = lines.filter((line) => line.startsWith("failed")).map((line) => line.slice(7));
    expect(code, lines.join("\n")).toBe(1);
    return { lines, failed };
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
    expect((await failures(world, env)).failed).toEqual([expect.stringMatching(line)]);
  });

  test.each(consequences)("if %s: one line says so, and what follows is skipped", async (_, fault, line, skip, env) => {
    const world = production();
    fault(world);
    // The name has a hash.
    const [map] = of(world.objects, "ConfigMap").filter(({ data }) => data?.TUNNEL_PATH === "/k7");
    const { lines, failed } = await failures(world, map ? { CHANGED: `ConfigMap/${map.metadata.name}` } : env);
    expect(failed).toEqual([expect.stringMatching(line)]);
    const skipped = lines.filter((one) => one.startsWith("skipped ")).map((one) => one.slice(8));
    expect(skipped).toContainEqual(expect.stringMatching(skip));
  });

  test("in a first deployment without two Secrets, both workloads are named, and nothing else", async () => {
    const world = production();
    first(broken("Deployment", "web", waiting("CreateContainerConfigError", 'secret "sentry" not found')))(world);
    broken("Deployment", "proxy", waiting("ContainerCreating"))(world);
    for (const scaler of of(world.objects, "HorizontalPodAutoscaler"))
      scaler.status = ready("ScalingActive", "no metrics");
    expect((await failures(world)).failed).toEqual([
      'web: CreateContainerConfigError: secret "sentry" not found',
      expect.stringMatching(/^proxy: 0 of \d pods are available: is one of these missing: .* secret\/proxy-tls$/),
    ]);
  });

  test("pods that run with an older Secret are a warning: all is well, until one restarts", async () => {
    const { code, lines } = await verify(jobs, production(), { SENTRY_DSN: `${dsn}9` });
    expect(code, lines.join("\n")).toBe(0);
    expect(lines).toContainEqual(expect.stringMatching(/^warning DSN: pods run with an older Secret/));
  });

  test("a limit that is off is a warning", async () => {
    const world = production();
    setting({ MAX_CONCURRENT_REQUESTS_PER_CLIENT: "off" })(world);
    const { code, lines } = await verify(jobs, world);
    expect(code, lines.join("\n")).toBe(0);
    expect(lines).toContainEqual(expect.stringMatching(/^warning limits: MAX_CONCURRENT_REQUESTS_PER_CLIENT is off/));
  });

  test("if policies are not enforced: one line says so", async () => {
    const probes = createServer();
    probes.listen(8081, "127.85.4.3");
    // Rejects if a program of this machine has the port at all addresses.
    await once(probes, "listening");
    const world = production();
    find(world.objects, "Pod", "proxy-0").status.podIP = "127.85.4.3";
    const found = await failures(world).finally(() => probes.close());
    expect(found.failed).toEqual([expect.stringMatching(/network policies: not enforced/)]);
  });

  test.skipIf(!hasHelm)("two releases in the namespace, and none named: one line says so", async () => {
    const objects = ["shop", "blog"].flatMap((release) =>
      healthy(template([images("1.0.0"), { settings: { SERVER_NAME: "app.example.com" } }], { release })),
    );
    expect((await failures({ ...production(), objects })).failed).toEqual([
      "INSTANCE: the namespace has several releases: shop, blog: name the one to check",
    ]);
  });

  test.skipIf(!hasHelm)("of several releases in the namespace, that of INSTANCE is checked", async () => {
    const settings = { SERVER_NAME: "app.example.com" };
    const [shop = [], blog = []] = ["shop", "blog"].map((release) =>
      healthy(template([images("1.0.0"), { settings }], { release })),
    );
    for (const one of blog) if (one.kind !== "Pod") one.status = { conditions: [] };
    for (const { spec } of of(shop, "Pod")) spec.nodeName = "node-0";
    const { code, lines } = await verify(jobs, { ...production(), objects: [...shop, ...blog] }, { INSTANCE: "shop" });
    expect(code, lines.join("\n")).toBe(0);
    for (const name of [
      "deployment/shop-culvert-proxy",
      "deployment/shop-culvert-web",
      "statefulset/shop-culvert-spool",
    ])
      expect(lines).toContainEqual(expect.stringMatching(`one node.* rollout restart ${name}$`));
  });

  test("each replica of the spool says how many envelopes are queued", async () => {
    const { lines } = await verify(jobs, production());
    for (const name of ["spool-0", "spool-1"])
      expect(lines).toContain(`ok ${name}: writes to its volume; 3 envelopes queued`);
    expect(lines).toContain("ok spool: on 2 nodes");
  });

  test.each(good)("%s, nothing is wrong", async (_, change) => {
    const world = production();
    change(world);
    const { code, lines } = await verify(jobs, world, { WAIT_S: "60" });
    // The test's own certificate is signed by itself.
    const fine = /^(ok|skipped) |^warning (certificate|ingest): |^warning \w+: all on one node/;
    expect(lines.filter((one) => !fine.test(one))).toEqual([]);
    expect(code).toBe(0);
  });
});
