import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parseFacts } from "../../checks/cluster/facts.ts";
import { checkWorkloads } from "../../checks/cluster/workloads.ts";
import schema from "../../checks/results.schema.json" with { type: "json" };
import { root } from "../../test/support/docker.ts";
import { images, rendering, template } from "./lib/chart.ts";
import { collected, healthy, linesOf, production, type World } from "./lib/cluster.ts";
import { built, hasImages } from "./lib/kubelet.ts";
import { type Part, type Resource, temporaryFolder, unprefixed } from "./lib/objects.ts";

const folder = temporaryFolder();

const waiting = (name: string, reason: string, message: string) =>
  `status.containerStatuses=${JSON.stringify([{ name, state: { waiting: { reason, message } } }])}`;
const image = `down web & Pod/web-\\d ${waiting("web", "ImagePullBackOff", "not found")}`;

/**
 * What is wrong, the change, and the only failed line. Changes: `Kind/name path=JSON`, by a regular expression; `-Kind/name` without these
 * objects; `down NAME`; and lines of ask-proxy.sh: curl's exit status, the response's, whether it was connected, and OpenSSL's result.
 */
const faults = `
the Service web is deleted | -Service/web$ | Service culvert-web: missing
a Service selects nothing | Service/spool$ spec.selector={"app":"x"} | Service culvert-spool: selects no ready pod: its selector is \\{"app":"x"\\}
policies are not enforced | web isReached=true | network policies: not enforced: web reaches
the spool crashes | down spool & Pod/spool status.containerStatuses=[{"name":"spool","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"message":"culvert: X: bad\\nculvert: SPOOL_RATE: 'x' is no number"}}}] | culvert-spool: 0 of 2 .*: culvert-spool-0 \\(\\S+:1.0.0\\): CrashLoopBackOff: culvert: SPOOL_RATE: .* --previous$
a rollout is stuck | Deployment/web$ status.replicas=4 & Pod/web-1 status.conditions.0.status="False" & Pod/web-1 ${waiting("web", "ErrImagePull", "no such tag")} | culvert-web: its rollout has not replaced all pods: culvert-web-1 \\(\\S+:1.0.0\\): ErrImagePull: no such tag
a Secret is missing | down proxy & Pod/proxy-\\d ${waiting("proxy", "CreateContainerConfigError", 'secret "sentry" not found')} | culvert-proxy: 0 of 2 .*Error: secret "sentry" not found
at first, web's image is missing | down proxy & ${image} | culvert-web: 0 of 2 .*: culvert-web-0 \\(\\S+culvert-web:1.0.0\\): ImagePullBackOff: not found
no node has room | down web & Pod/web-\\d status.conditions.1={"type":"PodScheduled","status":"False","message":"0/2 nodes are available"} | culvert-web: 0 of 2 pods are available: 0/2 nodes
web is at zero | down web & Deployment/web$ spec.replicas=0 | culvert-web: scaled to 0
a policy blocks the release before | ask WEB_PREVIOUS=28 0 0 0 | proxy → culvert-web-previous: no connection within 5 s
the release before hangs | ask WEB_PREVIOUS=28 0 1 0 | proxy → culvert-web-previous: connected, but no answer
a policy blocks the server's events | web asked.SERVER_TUNNEL="TimeoutError" | web → culvert-server-tunnel: no connection
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
web has another DSN | web settings.SENTRY_DSN="http://culvert@elsewhere/1" | DSN: web has another one than the proxy: kubectl .* rollout restart deployment -l \\S+=culvert$
the proxy refuses web's envelopes | ask server=0 403 1 0 | envelope: the proxy answers 403
all objects differ for one reason | sections diff=DIFF(ConfigMap proxy;Service web;Service spool) | ConfigMap/culvert-proxy and 2 more: differs from what was rendered: -a: 1 \\+a: 2: kubectl diff
an object is missing | sections diff=DIFF(Service web;@@ -0,0 +1,3 @@) | Service/culvert-web: is missing: kubectl diff
it cannot be compared | sections error diff="error: forbidden" | rendered: cannot be compared: error: forbidden
`;

/** What is no fault, the change, and a line. */
const good = `
a deployment | set X= | ok culvert-spool-1: writes to its volume; 3 envelopes queued$
the release before, ended | Deployment/web-previous spec.replicas=0 & -Pod/web-previous | skipped culvert-web-previous: scaled to 0
no policies | -NetworkPolicy/ | skipped network policies: not used
an ingest that rate limits | ask ingest=0 429 1 0 | warning ingest: .* 429
another version of the chart | sections diff=DIFF(Service web;-helm.sh/chart: culvert-0.0.0;+helm.sh/chart: culvert-1.0.0;-generation: 1;+generation: 2) | ok culvert-web: 2 available
a field that was set by hand | Deployment/web$ metadata.managedFields=[{"manager":"kubectl-patch","operation":"Update","fieldsV1":{"f:spec":{"f:template":{"f:containers":{"k:{\\"name\\":\\"web\\"}":{".":{},"f:image":{}}}}}}},{"manager":"kubectl-rollout","operation":"Update","fieldsV1":{"f:spec":{"f:x":{}}}}] | warning Deployment/culvert-web: kubectl-patch has set template.containers.web.image: README
a pod of the old release that terminates | Pod/web-1 metadata.deletionTimestamp="2026-01-01T00:00:00Z" | ok culvert-web: 2 available
monitoring | sections prometheus="\\"value\\":[1]" | ok scraped metrics: by
`;
const rows = (table: string) =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split(" | ") as [what: string, change: string, line: string]);
const down = (name: string) =>
  `(Deployment|StatefulSet)/${name}$ status.availableReplicas=0 & Pod/${name}-\\d status.conditions.0.status="False"`;
/** What `kubectl diff` prints: DIFF(objects and lines); without lines, of one that differs. */
const diff = (entries: string) => {
  const all = entries.split(";").map((one) => {
    const [kind, name] = one.split(" ");
    if (/^[-+@]/.test(one)) return one.replace(/^[-+]/, "$&    ");
    const file = `v1.${kind}.x.culvert-${name}`;
    return `diff -u -N /tmp/LIVE-1/${file} /tmp/MERGED-2/${file}\n--- /tmp/LIVE-1/${file}\n+++ /tmp/MERGED-2/${file}`;
  });
  const lines = entries.match(/;[-+@]/) ? all : all.map((one) => `${one}\n@@ -3,2 +3,2 @@\n-  a: 1\n+  a: 2`);
  return JSON.stringify(lines.join("\n"));
};
function world(changes: string): World {
  const made = production(rendering("production"));
  const written = changes.replace(/down ([\w-]+)/g, (_, name) => down(name));
  for (const change of written.replace(/DIFF\((.*)\)/, (_, entries) => diff(entries)).split(" & ")) {
    const [, without, target = "", path = "", value = ""] = /^(-?)(\S+) ?([^=]*)=?(.*)$/.exec(change) ?? [];
    const isMeant = ({ kind, metadata }: Resource) =>
      new RegExp(`^${target}`).test(`${kind}/${unprefixed(metadata.name)}`);
    const meant: Part[] = target in made ? [made[target as keyof World]] : made.objects.filter(isMeant);
    if (/^(ask|set)$/.test(target)) made.proxy[`${target} ${path}`] = value;
    else if (meant.length === 0) throw new Error(`${change}: changes nothing`);
    else if (without) made.objects = made.objects.filter((one) => !meant.includes(one));
    else
      for (const one of meant) {
        const keys = path.split(".");
        const last = keys.pop() ?? "";
        keys.reduce((part, key) => part[key], one)[last] = JSON.parse(value);
      }
  }
  return made;
}

const changeOf = (what: string) => rows(faults).find(([name]) => name === what)?.[1] ?? "";
const lost =
  'nodes 0.status.conditions.0={"type":"Ready","status":"Unknown","lastTransitionTime":"2026-11-28"} & ' +
  'Pod/.*-0$ status.conditions.0.status="False" & (Deployment|StatefulSet)/ status.availableReplicas=1';

const lines = (made: World) => linesOf(collected(made));
const failures = (made: World) =>
  [...new Set(lines(made).filter((line) => line.startsWith("failed ")))].map((line) => line.slice(7));

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
  expect(failures(world(lost))).toContainEqual(expect.stringMatching(line));
});

test("what may not be read or run is a line with the command that allows it; without any hop, a failure", () => {
  const refused = (does: string) =>
    JSON.stringify(`Error from server (Forbidden): User "me" cannot ${does} in API group ""`);
  const unread = world(`sections error objects=${refused('list resource "configmaps"')}`);
  const allow = (what: string) =>
    expect.stringMatching(new RegExp(`^warning .*kubectl -n culvert create role culvert-verify ${what}`));
  expect(lines(unread)).toContainEqual(allow("--verb=list --resource=configmaps"));
  const error = refused('create resource "pods/exec"');
  const mute = world(`sections proxy="" & sections web="" & sections error web=${error}`);
  expect(failures(mute)).toEqual(["hops: none could be asked: see the lines above"]);
  expect(lines(mute)).toContainEqual(allow("--verb=create --resource=pods/exec"));
});

test("what may pass by itself is waited for, and what will not is not", () => {
  const pending = (change: string) => checkWorkloads(parseFacts(collected(world(change)))).pending;
  const rollout = "culvert-web: its rollout has not replaced all pods";
  const waits = ["Deployment/web$ status.replicas=9", "down web"].map(pending);
  expect(waits).toEqual([[rollout], ["culvert-web: 0 of 2 pods are available"]]);
  expect([image, changeOf("a rollout is stuck"), lost, "set X="].flatMap(pending)).toEqual([]);
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
  const more = { NAMESPACE: "", WAIT_S: "0", IMAGE: built("spool"), ...env, PATH: `${folder}:${process.env.PATH}` };
  const command = [`${root}deploy/checks/cluster/verify.sh`, ...options];
  return spawnSync("sh", command, { encoding: "utf8", env: { ...process.env, ...more } });
};

test.skipIf(!hasImages("spool"))("the command prints lines or JSON; INSTANCE names one of several releases", () => {
  const { status, stdout, stderr } = run(world("set X="));
  const all = /^✓ proxy → culvert-web +status 200$[\s\S]*^culvert: all is well\n$/m;
  expect([status, stderr, stdout]).toEqual([0, "", expect.stringMatching(all)]);
  expect(run(world("down web")).stderr).toBe("culvert: waiting for culvert-web: 0 of 2 pods are available\n");
  const wrong = run(world(image), {}, "--json");
  expect(wrong.status).toBe(1);
  const isValid = new Ajv().compile(schema);
  expect(isValid(JSON.parse(wrong.stdout)), JSON.stringify(isValid.errors)).toBe(true);
  expect(run(world("set X="), { RENDERED: "no.yaml" }).stderr).toMatch(/RENDERED: there is no no\.yaml/);
  const objects = ["shop", "blog"].flatMap((release) => healthy(template([images("1.0.0")], { release })));
  const both = { ...world("set X="), objects };
  expect(run(both).stdout).toContain("the namespace has several releases: shop, blog: name the one to check");
  run(both, { INSTANCE: "shop" });
  const asked = readFileSync(join(folder, "asked"), "utf8");
  expect(asked).toContain("-l app.kubernetes.io/part-of=culvert,app.kubernetes.io/instance=shop -o json");
});
