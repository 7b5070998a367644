import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parseFacts, plan } from "../../checks/cluster/facts.ts";
import { checkWorkloads } from "../../checks/cluster/workloads.ts";
import schema from "../../checks/results.schema.json" with { type: "json" };
import { root } from "../../test/support/docker.ts";
import { images, rendering, template } from "./lib/chart.ts";
import { collected, healthy, linesOf, production, type World } from "./lib/cluster.ts";
import { built, hasImages } from "./lib/kubelet.ts";
import { labelsOf, type Part, temporaryFolder, unprefixed } from "./lib/objects.ts";

const folder = temporaryFolder();

interface Change {
  /** Lines of ask-proxy.sh by their first two words: curl's exit status, the response's, whether it was connected, OpenSSL's result. */
  proxy?: Record<string, string>;
  /** A role whose pods are not ready. */
  down?: string;
  /** What is not there: Kind/name. */
  without?: RegExp;
  /** Fields by their path, of all objects whose Kind/name begins like this. */
  objects?: Record<string, Record<string, unknown>>;
  web?: Record<string, unknown>;
  nodes?: Record<string, unknown>;
  sections?: Record<string, string>;
}

const notReady = { "status.conditions.0.status": "False" };
const waits = (name: string, reason: string, message: string) => ({
  "status.containerStatuses": [{ name, state: { waiting: { reason, message } } }],
});
const withoutImage = { down: "web", objects: { "Pod/web-\\d": waits("web", "ImagePullBackOff", "not found") } };
const stuck = {
  // web-current has the pod that waits, to which nothing listens.
  proxy: { "ask WEB_CURRENT": "7 000 0 0" },
  objects: {
    "Deployment/web$": { "status.replicas": 4 },
    "Pod/web-0": { "metadata.labels": labelsOf("web") },
    "Pod/web-1": { ...notReady, ...waits("web", "ErrImagePull", "no such tag") },
  },
};
const lastLine = "culvert: SPOOL_RATE: 'x' is no number";
const crashes = {
  name: "spool",
  state: { waiting: { reason: "CrashLoopBackOff" } },
  lastState: { terminated: { message: `culvert: X: bad\n${lastLine}` } },
};
const alone = (isReached: string) => ({
  objects: { "Deployment/proxy$": { "spec.template.spec.containers.0.env.3": { name: "WEB", value: "off" } } },
  without: /^(Deployment|Pod)\/web/,
  sections: { spool: `{"isReached":${isReached}}` },
});
/** What `kubectl diff` prints of objects that differ in these lines. */
const diff = (names: string[], lines = ["@@ -3,2 +3,2 @@", "-  a: 1", "+  a: 2"]) => {
  const file = (name: string) => `v1.${name.replace(" ", ".x.culvert-")}`;
  const head = (name: string) => ["diff -u -N", `/tmp/LIVE-1/${file(name)}`, `/tmp/MERGED-2/${file(name)}`].join(" ");
  return names.flatMap((name) => [head(name), `--- ${file(name)}`, `+++ ${file(name)}`, ...lines]).join("\n");
};

/** The change, and the only failed line. */
const faults: (Change & { line: RegExp })[] = [
  { without: /^Service\/web$/, line: /^Service culvert-web: missing/ },
  {
    objects: { "Service/spool$": { "spec.selector": { app: "x" } } },
    line: /^Service culvert-spool: selects no ready pod: its selector is {"app":"x"}/,
  },
  {
    web: { isReached: true },
    line: /^network policies: not enforced: web reaches/,
  },
  { ...alone("true"), line: /^network policies: not enforced: spool reaches/ },
  {
    down: "spool",
    objects: { "Pod/spool": { "status.containerStatuses": [crashes] } },
    line: /^culvert-spool: 0 of 2 .*: culvert-spool-0 \(\S+:1.0.0\): CrashLoopBackOff: culvert: SPOOL_RATE: .* --previous$/,
  },
  {
    ...stuck,
    line: /^culvert-web: its rollout has not replaced all pods: culvert-web-1 \(\S+:1.0.0\): ErrImagePull: no such tag/,
  },
  {
    down: "proxy|web",
    objects: withoutImage.objects,
    line: /^culvert-web: 0 of 2 .*: culvert-web-0 \(\S+culvert-web:1.0.0\): ImagePullBackOff: not found/,
  },
  {
    down: "web",
    objects: {
      "Pod/web-\\d": {
        "status.conditions.1": { type: "PodScheduled", status: "False", message: "0/2 nodes are available" },
      },
    },
    line: /^culvert-web: 0 of 2 pods are available: 0\/2 nodes/,
  },
  {
    down: "web",
    objects: { "Deployment/web$": { "spec.replicas": 0 } },
    line: /^culvert-web: scaled to 0/,
  },
  {
    proxy: { "ask WEB_PREVIOUS": "28 0 1 0" },
    line: /^proxy → culvert-web-previous: connected, but no answer/,
  },
  {
    web: { "asked.SERVER_TUNNEL": "TimeoutError" },
    line: /^web → culvert-server-tunnel: no connection/,
  },
  {
    proxy: { "ask WEB_UPSTREAM": "6 0 0 0" },
    line: /^proxy → culvert-web: \S+ does not resolve: is CoreDNS up/,
  },
  {
    proxy: { "ask ingest": "28 0 0 0" },
    line: /^ingest: sentry.example.com does not answer .*: allow its address/,
  },
  {
    proxy: { "ask ingest": "28 0 1 0" },
    line: /^ingest: sentry.example.com takes connections, and does not answer/,
  },
  {
    proxy: { "ask ingest": "7 0 0 0" },
    line: /^ingest: sentry.example.com refuses connections: is the port in SENTRY_DSN/,
  },
  {
    proxy: { "ask ingest": "60 0 1 20" },
    line: /^ingest: sentry.example.com: unable .*: a private CA/,
  },
  {
    proxy: { "ask ingest": "60 0 1 10" },
    line: /^ingest: sentry.example.com: cert has expired: renew/,
  },
  {
    proxy: { "ask ingest": "60 0 1 0" },
    line: /^ingest: sentry.example.com: its certificate is for another name/,
  },
  {
    proxy: { "ask ingest": "0 404 1 0" },
    line: /^ingest: sentry.example.com \(project 2\) .* no such project/,
  },
  {
    proxy: { "ask server": "0 200 1 0 queued" },
    line: /^envelope: not acknowledged by the ingest, but queued/,
  },
  {
    proxy: { "ask spool:10.0.0.3:8082": "0 503 1 0" },
    line: /^culvert-spool-0: status 503, not 200/,
  },
  {
    proxy: { "ask spool:10.0.0.3:8082": "0 403 1 0" },
    line: /^culvert-spool-0: has another DSN than the proxy: kubectl .* delete pod culvert-spool-0$/,
  },
  {
    web: { "settings.SENTRY_DSN": "http://culvert@elsewhere/1" },
    line: /^DSN: web has another one than the proxy: kubectl .* rollout restart deployment -l \S+=culvert$/,
  },
  {
    proxy: { "ask server": "0 403 1 0" },
    line: /^envelope: the proxy answers 403/,
  },
  {
    sections: { diff: diff(["ConfigMap proxy", "Service web", "Service spool"]) },
    line: /^ConfigMap\/culvert-proxy and 2 more: differs from what was rendered: -a: 1 \+a: 2: kubectl diff/,
  },
  {
    sections: { diff: diff(["Service web"], ["@@ -0,0 +1,3 @@"]) },
    line: /^Service\/culvert-web: is missing: kubectl diff/,
  },
  {
    sections: { "error diff": "error: forbidden" },
    line: /^rendered: cannot be compared: error: forbidden/,
  },
];

const image = { "f:template": { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {} } } } };
const newer = ["-helm.sh/chart: culvert-0.0.0", "+helm.sh/chart: culvert-1.0.0", "-generation: 1", "+generation: 2"];
/** What is no fault, and a line. */
const good: (Change & { what: string; line: RegExp })[] = [
  { what: "a deployment", line: /^ok culvert-spool-1: writes to its volume; 3 envelopes queued$/ },
  {
    what: "the release before, ended",
    objects: { "Deployment/web-previous": { "spec.replicas": 0 } },
    without: /^Pod\/web-previous/,
    line: /^skipped culvert-web-previous: scaled to 0/,
  },
  { what: "the tunnel alone", ...alone("false"), line: /^ok network policies: enforced/ },
  { what: "no policies", without: /^NetworkPolicy/, line: /^skipped network policies: not used/ },
  { what: "an ingest that rate limits", proxy: { "ask ingest": "0 429 1 0" }, line: /^warning ingest: .* 429/ },
  {
    what: "another version of the chart",
    sections: {
      diff: diff(
        ["Service web"],
        newer.map((line) => line.replace(/^./, "$&    ")),
      ),
    },
    line: /^ok culvert-web: 2 available/,
  },
  {
    what: "a field that was set by hand",
    objects: {
      "Deployment/web$": {
        "metadata.managedFields": [
          { manager: "kubectl-patch", operation: "Update", fieldsV1: { "f:spec": image } },
          { manager: "kubectl-rollout", operation: "Update", fieldsV1: { "f:spec": { "f:x": {} } } },
        ],
      },
    },
    line: /^warning Deployment\/culvert-web: kubectl-patch has set template.containers.web.image: README/,
  },
  {
    what: "a pod of the old release that terminates",
    objects: { "Pod/web-1": { "metadata.deletionTimestamp": "2026-01-01T00:00:00Z" } },
    line: /^ok culvert-web: 2 available/,
  },
  { what: "monitoring", sections: { prometheus: '"value":[1]' }, line: /^ok scraped metrics: by/ },
];

function setFields(whole: Part, fields: Record<string, unknown> = {}) {
  for (const [path, value] of Object.entries(fields)) {
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    keys.reduce((part, key) => part[key], whole)[last] = value;
  }
}

function world({ proxy, down, without, objects, ...others }: Change = {}): World {
  const made = production(rendering("production"));
  Object.assign(made.proxy, proxy);
  for (const part of ["web", "nodes", "sections"] as const) setFields(made[part], others[part]);
  const named = (pattern: RegExp) => {
    const found = made.objects.filter(({ kind, metadata }) => pattern.test(`${kind}/${unprefixed(metadata.name)}`));
    if (found.length === 0) throw new Error(`there is no ${pattern}`);
    return found;
  };
  const fallen = down && {
    [`(Deployment|StatefulSet)/(${down})$`]: { "status.availableReplicas": 0 },
    [`Pod/(${down})-\\d`]: notReady,
  };
  for (const [name, fields] of Object.entries({ ...fallen, ...objects }))
    for (const object of named(new RegExp(`^${name}`))) setFields(object, fields);
  const gone = without ? named(without) : [];
  return { ...made, objects: made.objects.filter((object) => !gone.includes(object)) };
}

const lost: Change = {
  nodes: { "0.status.conditions.0": { type: "Ready", status: "Unknown", lastTransitionTime: "2026-11-28" } },
  objects: { "Pod/.*-0$": notReady, "(Deployment|StatefulSet)/": { "status.availableReplicas": 1 } },
};

const lines = (made: World) => linesOf(collected(made));
const failures = (made: World) =>
  [...new Set(lines(made).filter((line) => line.startsWith("failed ")))].map((line) => line.slice(7));

test.each(faults)("one line says $line", ({ line, ...change }) => {
  expect(failures(world(change))).toEqual([expect.stringMatching(line)]);
});

test.each(good)("with $what, nothing is wrong", ({ line, ...change }) => {
  const found = lines(world(change));
  expect(found.filter((text) => text.startsWith("failed "))).toEqual([]);
  expect(found).toContainEqual(expect.stringMatching(line));
});

test("the plan has one proxy, and one web or spool", () => {
  const who = (change: Change) => plan(parseFacts(collected(world(change)))).map((line) => line.split(" ")[1]);
  const asked = [{}, alone("")].map((change) => who(change).slice(0, -1));
  expect(asked).toEqual(["web", "spool"].map((other) => ["culvert-proxy-0", `culvert-${other}-0`]));
});

test("a node whose kubelet is gone is named", () => {
  const line = /^culvert-web: 1 of 2 .*: the kubelet of node-0 has not answered since 2026.*: .* delete node node-0$/;
  expect(failures(world(lost))).toContainEqual(expect.stringMatching(line));
});

test("what may not be read or run is a line with the command that allows it; without any hop, a failure", () => {
  const refused = (does: string) => `Error from server (Forbidden): User "me" cannot ${does} in API group ""`;
  const unread = world({ sections: { "error objects": refused('list resource "configmaps"') } });
  const allow = (what: string) =>
    expect.stringMatching(new RegExp(`^warning .*kubectl -n culvert create role culvert-verify ${what}`));
  expect(lines(unread)).toContainEqual(allow("--verb=list --resource=configmaps"));
  const mute = world({ sections: { proxy: "", web: "", "error web": refused('create resource "pods/exec"') } });
  expect(failures(mute)).toEqual(["hops: none could be asked: see the lines above"]);
  expect(lines(mute)).toContainEqual(allow("--verb=create --resource=pods/exec"));
});

test("what may pass by itself is waited for, and what will not is not", () => {
  const pending = (change: Change) => checkWorkloads(parseFacts(collected(world(change)))).pending;
  const surging = { objects: { "Deployment/web$": { "status.replicas": 9 } } };
  expect([surging, { down: "web" }].map(pending)).toEqual([
    ["culvert-web: its rollout has not replaced all pods"],
    ["culvert-web: 0 of 2 pods are available"],
  ]);
  expect([withoutImage, stuck, lost, {}].flatMap(pending)).toEqual([]);
});

const run = (made: World, env: NodeJS.ProcessEnv = {}, ...options: string[]) => {
  writeFileSync(join(folder, "world"), collected(made));
  const kubectl = `#!/bin/sh
cd '${folder}'
echo "$*" >>asked
part() { awk -v name="$1" '/^== / { on = $2 == name; next } on' world; }
terminated() { echo "command terminated with exit code $1" >&2; exit "$1"; }
case "$*" in
*"get nodes "*) part nodes ;;
*"get deployments,"*) part objects ;;
*" -c web "*) part web; node --input-type=module - 127.0.0.1 >/dev/null || terminated $? ;;
*"exec --stdin "*) cat >/dev/null; part proxy ;;
*) echo "not found" >&2; exit 1 ;;
esac
`;
  writeFileSync(join(folder, "kubectl"), kubectl, { mode: 0o755 });
  // The image of this machine's stack, unless this machine's Node is new enough.
  const IMAGE = Number.parseInt(process.versions.node, 10) < 24 ? built("spool") : "none";
  const more = { NAMESPACE: "", WAIT_S: "0", IMAGE, ...env, PATH: `${folder}:${process.env.PATH}` };
  const command = [`${root}deploy/checks/cluster/verify.sh`, ...options];
  return spawnSync("sh", command, { encoding: "utf8", env: { ...process.env, ...more } });
};

test.skipIf(!hasImages("spool"))("the command prints lines or JSON; INSTANCE names one of several releases", () => {
  const { status, stdout, stderr } = run(world(), { INSTANCE: "culvert" });
  const all = /^✓ proxy → culvert-web +status 200$[\s\S]*^culvert: all is well\n$/m;
  expect([status, stderr, stdout]).toEqual([0, "", expect.stringMatching(all)]);
  const asked = readFileSync(join(folder, "asked"), "utf8");
  expect(asked).toContain("-l app.kubernetes.io/part-of=culvert,app.kubernetes.io/instance=culvert -o json");
  const wrong = run(world({ down: "web" }), {}, "--json");
  expect(wrong).toMatchObject({ status: 1, stderr: "culvert: waiting for culvert-web: 0 of 2 pods are available\n" });
  const isValid = new Ajv().compile(schema);
  expect(isValid(JSON.parse(wrong.stdout)), JSON.stringify(isValid.errors)).toBe(true);
  expect(run(world(), { RENDERED: "no.yaml" }).stderr).toMatch(/RENDERED: there is no no\.yaml/);
  const objects = ["shop", "blog"].flatMap((release) => healthy(template([images("1.0.0")], { release })));
  const both = { ...world(), objects };
  const several = "the namespace has several releases: shop, blog: name the one to check";
  expect(lines(both)).toEqual([`failed INSTANCE: ${several}`]);
});
