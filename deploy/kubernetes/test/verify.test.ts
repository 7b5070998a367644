import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePair } from "../../test/support/certificate.ts";
import { hasHelm, images, merge, template } from "./lib/chart.ts";
import { docker, hasImages } from "./lib/docker.ts";
import type { Live } from "./lib/fake-api-server.ts";
import { healthy, startJobs, verify, type World } from "./lib/fake-cluster.ts";
import type { Resource } from "./lib/objects.ts";
import { canRender, rendering } from "./lib/render.ts";

const find = (world: World, kind: string, name: string): Live => {
  const found = world.objects.find((one) => one.kind === kind && one.metadata.name.startsWith(name));
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const remove = (kind: string, name: string) => (world: World) => {
  const gone = find(world, kind, name);
  world.objects = world.objects.filter((one) => one !== gone);
};
/** A workload without a serving pod; its pods have this status. */
const broken = (kind: string, name: string, state: object) => (world: World) => {
  find(world, kind, name).status.availableReplicas = 0;
  for (const pod of world.objects.filter((one) => one.kind === "Pod" && one.metadata.name.startsWith(`${name}-`)))
    pod.status = { conditions: [{ type: "Ready", status: "False" }], ...state };
};
/** A first deployment, in which proxies are not ready before web. */
const first = (fault: (world: World) => void) => (world: World) => {
  fault(world);
  broken("Deployment", "proxy", {})(world);
};
const addSource = (world: World, source: object) => {
  for (const pod of world.objects.filter(({ kind }) => kind === "Pod")) pod.spec.containers[0].envFrom.push(source);
};
const crashed = {
  lastState: { terminated: { message: "culvert: X: bad\nculvert: SPOOL_RATE: 'x' is no number: use one\n" } },
};
const waiting = (reason: string, message: string) => ({
  containerStatuses: [{ name: "spool", state: { waiting: { reason, message } }, ...crashed }],
});

describe.skipIf(!canRender || !hasImages("spool"))("the checks of make verify-cluster", () => {
  let manifests: Resource[];
  let folder: string;
  let jobs: string;
  const certificate = (name: string) => ({
    key: readFileSync(join(folder, `${name}.key`), "utf8"),
    cert: readFileSync(join(folder, `${name}.crt`), "utf8"),
  });
  const production = (): World => ({
    objects: healthy(manifests),
    dns: {},
    blocked: [],
    pages: { "/culvert-verify-no-such-page": 404 },
    ingest: { acknowledges: true, exit: 0 },
    envelopes: { own: 200, foreign: 403, spool: 200 },
    certificate: certificate("site"),
    started: {},
  });

  beforeAll(() => {
    manifests = rendering("production");
    jobs = startJobs();
    folder = mkdtempSync(join(tmpdir(), "culvert-verify-"));
    makePair(join(folder, "site"), ["app.example.com", "example.com"]);
    makePair(join(folder, "other"), ["other.example.com"]);
    makePair(join(folder, "expired"), ["app.example.com"]);
    const renew = "-x509toreq -copy_extensions copy -in expired.crt -signkey expired.key -out expired.csr";
    const end = "-req -days 0 -copy_extensions copy -in expired.csr -signkey expired.key -out expired.crt";
    for (const args of [renew, end])
      execFileSync("openssl", ["x509", ...args.split(" ")], { cwd: folder, stdio: "pipe" });
  });
  afterAll(() => {
    docker("rm", "-f", jobs);
    rmSync(folder, { recursive: true });
  });

  const faults: [what: string, fault: (world: World) => void, line: RegExp, env?: Record<string, string>][] = [
    ["the Service spool is deleted", remove("Service", "spool"), /^Service spool: missing/],
    ["the Service web is deleted", remove("Service", "web"), /^Service web: missing/],
    ["the Service proxy is deleted", remove("Service", "proxy"), /^Service proxy: missing/],
    ["the Service server-tunnel is deleted", remove("Service", "server-tunnel"), /^Service server-tunnel: missing/],
    [
      "a Service selects nothing",
      (world) => (find(world, "Service", "spool").spec.selector = { app: "x" }),
      /^Service spool: selects no ready pod: its selector is \{"app":"x"\}/,
    ],
    [
      "the certificate is for another name",
      (world) => (world.certificate = certificate("other")),
      /^certificate: not for app.example.com, but for DNS:other.example.com/,
    ],
    [
      "the certificate has expired",
      (world) => (world.certificate = certificate("expired")),
      /^certificate: expired on .*: change the Secret/,
    ],
    [
      "the second host name is not in the certificate",
      (world) => {
        const settings = find(world, "ConfigMap", "proxy-settings");
        settings.data = { ...settings.data, SERVER_NAME: "app.example.com www.example.com" };
      },
      /^certificate: not for www.example.com/,
    ],
    [
      "policies are deleted",
      (world) => {
        remove("NetworkPolicy", "web")(world);
        remove("NetworkPolicy", "default-deny")(world);
      },
      /^network policies: none restricts web's ingress and egress/,
    ],
    [
      "a ConfigMap was edited",
      (world) => (world.started = { TUNNEL_PATH: "/before" }),
      /^ConfigMap telemetry-settings-\w+: TUNNEL_PATH was changed, but/,
    ],
    [
      "the spool's ConfigMap was edited",
      (world) => (world.started = { SPOOL_RATE: "7" }),
      /^ConfigMap spool-settings-\w+: SPOOL_RATE was changed, but/,
    ],
    ["DNS is missing", (world) => (world.dns = { proxy: "refused", web: "refused" }), /^DNS: pods resolve no names/],
    ["DNS gets no answers", (world) => (world.dns = { proxy: "dropped", web: "dropped" }), /^DNS: pods resolve no/],
    ["a policy blocks web's DNS", (world) => (world.dns = { web: "dropped" }), /^DNS: pods resolve no names/],
    [
      "the spool crashes",
      broken("StatefulSet", "spool", waiting("CrashLoopBackOff", "")),
      /^spool: crash loop: culvert: SPOOL_RATE: 'x' is no number: use one: kubectl -n culvert logs spool-0 -c spool --previous/,
    ],
    [
      "an image cannot be pulled",
      broken("Deployment", "web", waiting("ImagePullBackOff", "not found")),
      /^web: ImagePullBackOff: not found/,
    ],
    [
      "a Secret is missing",
      broken("Deployment", "proxy", waiting("CreateContainerConfigError", 'secret "sentry" not found')),
      /^proxy: CreateContainerConfigError: secret "sentry" not found/,
    ],
    [
      "in a first deployment, web's image cannot be pulled",
      first(broken("Deployment", "web", waiting("ImagePullBackOff", "not found"))),
      /^web: ImagePullBackOff: not found/,
    ],
    [
      "in a first deployment, web does not become ready",
      first(broken("Deployment", "web", {})),
      /^web: 0 of \d pods are available: kubectl -n culvert describe pod/,
    ],
    [
      "in a first deployment, web is missing",
      first((world) => {
        world.objects = world.objects.filter(
          ({ kind, metadata }) => !(/Deployment|Pod$/.test(kind) && metadata.name.startsWith("web")),
        );
      }),
      /^Deployment web: missing/,
    ],
    [
      "a Secret that is mounted is missing",
      broken("Deployment", "proxy", waiting("ContainerCreating", "")),
      /^proxy: 0 of \d pods are available: is one of these missing: kubectl -n culvert get secret\/proxy-tls$/,
    ],
    [
      "no node has room",
      broken("Deployment", "web", {
        conditions: [{ type: "PodScheduled", status: "False", message: "0/2 nodes are available" }],
      }),
      /^web: 0 of 2 pods are available: 0\/2 nodes/,
    ],
    [
      "web is at zero",
      (world) => {
        broken("Deployment", "web", {})(world);
        find(world, "Deployment", "web").spec.replicas = 0;
      },
      /^web: scaled to 0/,
    ],
    [
      "web is not deployed",
      (world) => {
        world.objects = world.objects.filter(
          ({ kind, metadata }) => !(/Deployment|Pod$/.test(kind) && metadata.name.startsWith("web")),
        );
      },
      /^Deployment web: missing/,
    ],
    [
      "a policy blocks the spool",
      (world) => (world.blocked = ["proxy spool:8082"]),
      /^proxy → spool: no connection within 5 s: does a NetworkPolicy/,
    ],
    [
      "a policy blocks the server's events",
      (world) => (world.blocked = ["web server-tunnel:8083"]),
      /^web → server-tunnel: no connection within 5 s/,
    ],
    ["a page fails", (world) => (world.pages["*"] = 503), /^page \/healthz: 503/],
    ["the page of PAGE is missing", (world) => (world.pages["/shop"] = 404), /^page \/shop: 404/, { PAGE: "/shop" }],
    [
      "an object of EXPECT is missing",
      remove("NetworkPolicy", "default-deny"),
      /^networkpolicies\/default-deny: missing: apply/,
      { EXPECT: "networkpolicies/proxy networkpolicies/default-deny" },
    ],
    [
      "the ingest is blocked",
      (world) => (world.ingest = { acknowledges: false, exit: 28 }),
      /^envelope: not acknowledged by the ingest: no connection within 5 s: allow its address/,
    ],
    [
      "the ingest's CA is unknown",
      (world) => (world.ingest = { acknowledges: false, exit: 60 }),
      /^envelope: not acknowledged by the ingest: .* private CA/,
    ],
    ["envelopes are rejected", (world) => (world.envelopes.own = 403), /^envelope: 403, not 200/],
    ["the tunnel is an open relay", (world) => (world.envelopes.foreign = 200), /^envelope for a foreign project: 200/],
    ["the spool's disk is full", (world) => (world.envelopes.spool = 503), /^spool: 503, not 200/],
    [
      "the autoscaler has no metrics",
      (world) => {
        find(world, "HorizontalPodAutoscaler", "web").status.conditions = [
          { type: "ScalingActive", status: "False", message: "no metrics" },
        ];
      },
      /^autoscaler web: no metrics: is metrics-server installed/,
    ],
  ];
  test.each(faults)("if %s: one line says so", async (_, fault, line, env = {}) => {
    const world = production();
    fault(world);
    const { code, lines } = await verify(jobs, world, env);
    const failed = lines.flatMap((one) => /^FAILED {3}(.*)/.exec(one)?.[1] ?? []);
    expect(failed, lines.join("\n")).toEqual([expect.stringMatching(line)]);
    expect([code, lines.at(-1)]).toEqual([1, "culvert: 1 of the checks failed"]);
  });

  test("if policies are not enforced: one line says so", async () => {
    const probes = createServer();
    await new Promise<void>((resolve) => probes.listen(8081, "127.85.4.3", resolve));
    const { lines } = await verify(jobs, production()).finally(() => probes.close());
    expect(lines.filter((one) => one.startsWith("FAILED"))).toEqual([
      expect.stringMatching(/network policies: not enforced/),
    ]);
  });

  test.skipIf(!hasHelm)("of several releases in the namespace, that of INSTANCE is checked", async () => {
    const values = merge(images("1.0.0"), { settings: { SERVER_NAME: "app.example.com" } });
    const [shop, blog] = ["shop", "blog"].map((release) => healthy(template(values, { release }))) as [Live[], Live[]];
    for (const one of blog) if (one.kind !== "Pod") one.status = { conditions: [] };
    for (const pod of shop.filter(({ kind }) => kind === "Pod")) pod.spec.nodeName = "node-0";
    const { code, lines } = await verify(jobs, { ...production(), objects: [...shop, ...blog] }, { INSTANCE: "shop" });
    expect([code, lines.at(-1)], lines.join("\n")).toEqual([0, "culvert: all is well"]);
    for (const name of ["proxy", "web"])
      expect(lines).toContainEqual(
        expect.stringMatching(`one node.* rollout restart deployment/shop-culvert-${name}$`),
      );
  });

  const good: [what: string, change: (world: World) => void][] = [
    ["after the first deployment", () => {}],
    ["with the console off, whose page is 404", (world) => (world.pages["*"] = 404)],
    ["with an app that answers every path", (world) => (world.pages = { "*": 200 })],
    ["with an app behind a login", (world) => (world.pages = { "*": 401 })],
    [
      "with two host names",
      (world) => {
        const settings = find(world, "ConfigMap", "proxy-settings");
        settings.data = { ...settings.data, SERVER_NAME: "app.example.com,  example.com" };
      },
    ],
    ["without policies", (world) => (world.objects = world.objects.filter(({ kind }) => kind !== "NetworkPolicy"))],
    [
      "without a spool",
      (world) => (world.objects = world.objects.filter(({ metadata }) => !metadata.name.startsWith("spool"))),
    ],
    [
      "without autoscalers",
      (world) => (world.objects = world.objects.filter(({ kind }) => kind !== "HorizontalPodAutoscaler")),
    ],
    [
      "while a pod of the old release terminates",
      (world) => {
        const old = structuredClone(find(world, "Pod", "web-0"));
        Object.assign(old.metadata, { name: "web-old", deletionTimestamp: "2026-01-01T00:00:00Z" });
        world.objects.push(old);
      },
    ],
    [
      "with a ConfigMap of the team's that overrides a setting",
      (world) => {
        world.objects.push({
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "team" },
          data: { HSTS_MAX_AGE: "60" },
        });
        addSource(world, { configMapRef: { name: "team" } });
      },
    ],
    [
      "with a Secret of the team's that overrides a setting",
      (world) => {
        world.started = { TUNNEL_PATH: "/secret" };
        addSource(world, { secretRef: { name: "team" } });
      },
    ],
    [
      "with a sidecar in each pod",
      (world) => {
        for (const pod of world.objects.filter(({ kind }) => kind === "Pod"))
          pod.spec.containers.unshift({ name: "istio-proxy" });
      },
    ],
    [
      "during a scale-up",
      (world) => {
        const web = find(world, "Deployment", "web");
        web.spec.replicas += 1;
        setTimeout(() => (web.status = { observedGeneration: 1, updatedReplicas: 3, availableReplicas: 3 }), 1000);
      },
    ],
  ];
  test.each(good)("%s, nothing is wrong", async (_, change) => {
    const world = production();
    change(world);
    const { code, lines } = await verify(jobs, world, { WAIT_S: "60" });
    expect(lines.filter((one) => !/^(ok|skipped) /.test(one))).toEqual(["culvert: all is well"]);
    expect(code).toBe(0);
  });
});
