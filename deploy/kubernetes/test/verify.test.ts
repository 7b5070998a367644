import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseFacts, plan } from "../../checks/cluster/facts.ts";
import { check } from "../../checks/cluster/verify.ts";
import { checkWorkloads } from "../../checks/cluster/workloads.ts";
import schema from "../../checks/results.schema.json" with { type: "json" };
import { hasHelm, images, rendering, template } from "./lib/chart.ts";
import { collected, dsn, healthy, production, type World } from "./lib/cluster.ts";
import { built, hasImages } from "./lib/docker.ts";
import { controllers, find, of, type Resource, unprefixed } from "./lib/objects.ts";
import { root } from "./lib/paths.ts";

type Change = (world: World) => void;
const podsOf = ({ objects }: World, name: string) =>
  of(objects, "Pod").filter(({ metadata }) => unprefixed(metadata.name).replace(/-\d$/, "") === name);
const notReady = (type: string, message = "") => ({ conditions: [{ type, status: "False", message }] });
const waiting = (name: string, reason: string, message = "") => {
  const terminated = { message: "culvert: X: bad\nculvert: SPOOL_RATE: 'x' is no number: use one\n" };
  return { containerStatuses: [{ name, state: { waiting: { reason, message } }, lastState: { terminated } }] };
};
/** A workload without a serving pod; its pods have this status. */
const broken =
  (kind: string, name: string, status: object = {}): Change =>
  (world) => {
    find(world.objects, kind, name).status.availableReplicas = 0;
    for (const pod of podsOf(world, name)) pod.status = { ...notReady("Ready"), ...status };
  };
const without =
  (pattern: RegExp): Change =>
  (world) => {
    const kept = world.objects.filter(({ kind, metadata }) => !pattern.test(`${kind}/${unprefixed(metadata.name)}`));
    expect(kept.length).toBeLessThan(world.objects.length);
    world.objects = kept;
  };
const pod = (world: World, name: string) => structuredClone(podsOf(world, name)[0]) as Resource;
let folder: string;

/** Changes with a name, for the tables below. */
const changes: Record<string, Change> = {
  nothing: () => {},
  selector: ({ objects }) => Object.assign(find(objects, "Service", "spool").spec, { selector: { app: "x" } }),
  reached: ({ web }) => Object.assign(web, { isReached: true }),
  events: ({ web }) => Object.assign(web.asked, { SERVER_TUNNEL: "TimeoutError" }),
  crash: broken("StatefulSet", "spool", waiting("spool", "CrashLoopBackOff")),
  image: broken("Deployment", "web", waiting("web", "ImagePullBackOff", "not found")),
  secret: broken("Deployment", "proxy", waiting("proxy", "CreateContainerConfigError", 'secret "sentry" not found')),
  "image first": (world) => {
    changes.image?.(world);
    broken("Deployment", "proxy")(world);
  },
  full: broken("Deployment", "web", notReady("PodScheduled", "0/2 nodes are available")),
  zero: (world) => {
    broken("Deployment", "web")(world);
    find(world.objects, "Deployment", "web").spec.replicas = 0;
  },
  // With surge, the new pod counts as updated, and the old ones as available.
  stuck: (world) => {
    const { spec, status } = find(world.objects, "Deployment", "web");
    Object.assign(status, { replicas: spec.replicas + 1 });
    const one = pod(world, "web");
    one.metadata.name = "culvert-web-new";
    one.spec.containers[0].image = "registry.example.com/culvert-web:9.9.9";
    one.status = { ...notReady("Ready"), ...waiting("web", "ErrImagePull", "no such tag") };
    world.objects.push(one);
  },
  lost: ({ objects, nodes }) => {
    const ready = { type: "Ready", status: "Unknown", lastTransitionTime: "2026-11-28T10:00:00Z" };
    Object.assign(nodes[0]?.status, { conditions: [ready] });
    const own = of(objects, "Pod").filter(({ spec }) => spec.nodeName === "node-0");
    for (const one of own) one.status = { ...one.status, ...notReady("Ready") };
    for (const one of controllers(objects)) one.status.availableReplicas -= 1;
  },
  "another DSN": ({ web }) => Object.assign(web.settings, { SENTRY_DSN: `${dsn}1` }),
  ended: (world) => {
    find(world.objects, "Deployment", "web-previous").spec.replicas = 0;
    without(/^Pod\/web-previous/)(world);
  },
  terminating: (world) => {
    const old = pod(world, "web");
    Object.assign(old.metadata, { name: "web-old", deletionTimestamp: "2026-01-01T00:00:00Z" });
    world.objects.push(old);
  },
  sidecars: ({ objects }) => {
    for (const { spec } of of(objects, "Pod")) spec.containers.unshift({ name: "istio-proxy" });
  },
  scraped: ({ sections }) => Object.assign(sections, { prometheus: '"value":[1,"1"]' }),
  differs: ({ sections }) => {
    sections.diff =
      "diff -u -N /tmp/LIVE-1/v1.ConfigMap.x.culvert-proxy /tmp/MERGED-2/v1.ConfigMap.x.culvert-proxy\n+x";
  },
  undiffable: ({ sections }) => Object.assign(sections, { "error diff": "error: forbidden" }),
};
/**
 * What is wrong, the change, and the only failed line. A change is a name from above; `-Kind/name` without these objects; or a line of
 * ask-proxy.sh, whose `ask` has curl's exit status, the response's, 0 if it was not connected, and OpenSSL's result.
 */
const faults = `
the Service web is deleted | -Service/web$ | Service culvert-web: missing
a Service selects nothing | selector | Service culvert-spool: selects no ready pod: its selector is \\{"app":"x"\\}
policies are not enforced | reached | network policies: not enforced: web reaches
the spool crashes | crash | culvert-spool: 0 of 2 .*: culvert-spool-0 \\(\\S+:1.0.0\\): CrashLoopBackOff: culvert: SPOOL_RATE: .* --previous$
an image cannot be pulled | image | culvert-web: 0 of 2 .*: culvert-web-0 \\(\\S+culvert-web:1.0.0\\): ImagePullBackOff: not found
a rollout is stuck | stuck | culvert-web: its rollout has not replaced all pods: culvert-web-new \\(\\S+:9.9.9\\): ErrImagePull: no such tag
a Secret is missing | secret | culvert-proxy: 0 of 2 .*Error: secret "sentry" not found
at first, web's image is missing | image first | culvert-web: .*ImagePullBackOff
no node has room | full | culvert-web: 0 of 2 pods are available: 0/2 nodes
web is at zero | zero | culvert-web: scaled to 0
a policy blocks the release before | ask WEB_PREVIOUS=28 0 0 0 | proxy → culvert-web-previous: no connection within 5 s
the release before hangs | ask WEB_PREVIOUS=28 0 1 0 | proxy → culvert-web-previous: connected, but no answer
a policy blocks the server's events | events | web → culvert-server-tunnel: no connection
the domain is another one | ask WEB_UPSTREAM=6 0 0 0 | proxy → culvert-web: \\S+ does not resolve: is CoreDNS up
the ingest is blocked | ask ingest=28 0 0 0 | ingest: sentry.example.com does not answer .*: allow its address
the ingest hangs | ask ingest=28 0 1 0 | ingest: sentry.example.com takes connections, and does not answer
the ingest has another port | ask ingest=7 0 0 0 | ingest: sentry.example.com refuses connections: is the port in SENTRY_DSN
the ingest's CA is unknown | ask ingest=60 0 1 20 | ingest: sentry.example.com: unable .*: a private CA
the ingest's certificate has expired | ask ingest=60 0 1 10 | ingest: sentry.example.com: cert has expired: renew
the ingest has another name | ask ingest=60 0 1 0 | ingest: sentry.example.com: its certificate is for another name
the key is wrong | ask ingest=0 403 1 0 | ingest: .* answers 403 to a probe envelope: copy SENTRY_DSN
the ingest has no such project | ask ingest=0 404 1 0 | ingest: sentry.example.com \\(project 2\\) .* no such project
the proxy queues all envelopes | ask server=0 200 1 0 queued | envelope: not acknowledged by the ingest, but queued
a spool's disk is full | ask spool:10.0.0.3:8082=0 503 1 0 | culvert-spool-0: status 503, not 200
a spool has another DSN | ask spool:10.0.0.3:8082=0 403 1 0 | culvert-spool-0: has another DSN than the proxy: kubectl .* delete pod culvert-spool-0$
web has another DSN | another DSN | DSN: web has another one than the proxy: kubectl .* rollout restart deployment$
the proxy refuses web's envelopes | ask server=0 403 1 0 | envelope: the proxy answers 403
an object differs | differs | ConfigMap/culvert-proxy: is missing, or differs from what was rendered
it cannot be compared | undiffable | rendered: cannot be compared: error: forbidden
`;

/** What is no fault, the change, and a line. */
const good = `
a deployment | nothing | ok culvert-spool-1: writes to its volume; 3 envelopes queued$
the release before, ended | ended | skipped culvert-web-previous: scaled to 0
no policies | -NetworkPolicy/ | skipped network policies: not used
an ingest that rate limits | ask ingest=0 429 1 0 | warning ingest: .* 429
a pod of the old release that terminates | terminating | ok culvert-web: 2 available
sidecars | sidecars | ok proxy → culvert-web: status 200
monitoring | scraped | ok scraped metrics: by
`;
const rows = (table: string) =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split(" | ") as [what: string, change: string, line: string]);
const changed = (change: string): Change => {
  if (change.startsWith("-")) return without(new RegExp(`^${change.slice(1)}`));
  const [, key, value = ""] = /^((?:ask|set) [^=]+)=(.*)$/.exec(change) ?? [];
  const named = changes[change];
  if (!key && !named) throw new Error(`${change}: no such change`);
  return key ? ({ proxy }) => Object.assign(proxy, { [key]: value }) : (named as Change);
};

describe.skipIf(!hasHelm)("the checks of make verify-cluster", () => {
  const world = (change: Change | string) => {
    const made = production(rendering("production"));
    (typeof change === "string" ? changed(change) : change)(made);
    return made;
  };
  const lines = (made: World) =>
    check(parseFacts(collected(made))).map(({ state, check, found, fix }) =>
      [`${state} ${check}`, found, fix].filter(Boolean).join(": "),
    );
  const failures = (made: World) =>
    [...new Set(lines(made).filter((line) => line.startsWith("failed ")))].map((line) => line.slice(7));

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "culvert-verify-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(rows(faults))("if %s: one line says so", (_, change, line) => {
    expect(failures(world(change))).toEqual([expect.stringMatching(new RegExp(`^${line}`))]);
  });

  test.each(rows(good))("with %s, nothing is wrong", (_, change, line) => {
    const found = lines(world(change));
    expect(found.filter((one) => one.startsWith("failed "))).toEqual([]);
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`^${line}`)));
  });

  test("a node whose kubelet is gone is named", () => {
    const line = /^culvert-web: 1 of 2 .*: the kubelet of node-0 has not answered since 2026.*: .* delete node node-0$/;
    expect(failures(world("lost"))).toContainEqual(expect.stringMatching(line));
  });

  test("what may not be read or run is a line with the command that would allow it; without any hop, a failure", () => {
    const refused = world(({ sections }) => {
      sections["error objects"] =
        'Error from server (Forbidden): configmaps is forbidden: User "me" cannot list resource "configmaps" in API group ""';
    });
    const allow = (what: string) =>
      expect.stringMatching(new RegExp(`^warning .*kubectl -n culvert create role culvert-verify ${what}`));
    expect(lines(refused)).toContainEqual(allow("--verb=list --resource=configmaps"));
    const mute = world(({ sections }) => {
      const error =
        'Error from server (Forbidden): pods "x" is forbidden: User "me" cannot create resource "pods/exec"';
      Object.assign(sections, { proxy: "", web: "", "error proxy": error, "error web": error });
    });
    expect(failures(mute)).toEqual(["hops: none could be asked: see the lines above"]);
    expect(lines(mute)).toContainEqual(allow("--verb=create --resource=pods/exec"));
  });

  test("what may pass by itself is waited for, and what will not is not", () => {
    const isPending = (change: Change | string) => checkWorkloads(parseFacts(collected(world(change)))).isPending;
    const rollout: Change = ({ objects }) => {
      find(objects, "Deployment", "web").status.replicas += 1;
    };
    const all = [rollout, broken("Deployment", "web"), "image", "stuck", "lost", "nothing"].map(isPending);
    expect(all).toEqual([true, true, false, false, false, false]);
  });

  test("asks one proxy, which reaches every spool, and one web", () => {
    const found = plan(parseFacts(collected(world("nothing"))));
    const spools = "10.0.0.3:8082,10.0.0.4:8082";
    expect(found.slice(0, 2)).toEqual([`proxy culvert-proxy-0 ${spools}`, "web culvert-web-0 10.0.0.3"]);
    expect(found).toHaveLength(3);
  });

  /** Runs the command with a kubectl that answers with what a world has. */
  const run = (made: World, env: NodeJS.ProcessEnv = {}, ...options: string[]) => {
    writeFileSync(join(folder, "world"), collected(made));
    const kubectl = `#!/bin/sh
cd '${folder}'
echo "$*" >>asked
part() { awk -v name="$1" '/^== / { on = $2 == name; next } on' world; }
case "$*" in
  *"get nodes "*) part nodes ;;
  *"get deployments,"*) part objects ;;
  *"exec --stdin "*) cat >/dev/null; part "$7" ;;
  *) echo "not found" >&2; exit 1 ;;
esac
`;
    writeFileSync(join(folder, "kubectl"), kubectl, { mode: 0o755 });
    const more = { NAMESPACE: "", WAIT_S: "0", IMAGE: built("spool"), ...env, PATH: `${folder}:${process.env.PATH}` };
    const command = [`${root}/deploy/checks/cluster/verify.sh`, ...options];
    return spawnSync("sh", command, { encoding: "utf8", env: { ...process.env, ...more } });
  };

  test.skipIf(!hasImages("spool"))("the command prints lines or JSON; INSTANCE names one of several releases", () => {
    const { status, stdout, stderr } = run(world("nothing"));
    const all = /^✓ proxy → culvert-web +status 200$[\s\S]*culvert: all is well.*\n$/m;
    expect([status, stderr, stdout]).toEqual([0, "", expect.stringMatching(all)]);
    const wrong = run(world("image"), {}, "--json");
    expect(wrong.status).toBe(1);
    const isValid = new Ajv().compile(schema);
    expect(isValid(JSON.parse(wrong.stdout)), JSON.stringify(isValid.errors)).toBe(true);
    expect(run(world("nothing"), { RENDERED: "no.yaml" }).stderr).toMatch(/RENDERED: there is no no\.yaml/);
    const both = world((made) => {
      made.objects = ["shop", "blog"].flatMap((release) => healthy(template([images("1.0.0")], { release })));
    });
    expect(run(both).stdout).toContain("the namespace has several releases: shop, blog: name the one to check");
    run(both, { INSTANCE: "shop" });
    const asked = readFileSync(join(folder, "asked"), "utf8");
    expect(asked).toContain("-l app.kubernetes.io/part-of=culvert,app.kubernetes.io/instance=shop -o json");
  });
});
