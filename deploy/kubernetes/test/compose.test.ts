import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../../test/support/docker.ts";
import { chart, rendering } from "./lib/chart.ts";
import { bytes, controllers, find, type Part, podOf, unprefixed } from "./lib/objects.ts";

const { services } = parse(readFileSync(`${root}docker-compose.yml`, "utf8"), { merge: true });
const settings: Part[] = Object.values(
  JSON.parse(readFileSync(`${root}deploy/settings/settings.json`, "utf8")) as Record<string, Part[]>,
).flat();

const defaults = JSON.parse(readFileSync(`${chart}/settings.json`, "utf8"));

const composeBytes = (quantity: string) => bytes(quantity.replace(/[kmg]$/, (unit) => `${unit.toUpperCase()}i`));

const dockerfiles: Record<string, string> = { spool: "proxy/spool/Dockerfile", ingest: "deploy/ingest/Dockerfile" };
const imageOf = (name: string) => (dockerfiles[name] ? readFileSync(`${root}${dockerfiles[name]}`, "utf8") : "");

const objects = rendering("everything");
const names = ["ingest", "proxy", "spool", "web"];
test("compose and Kubernetes have the same services, except cache, monitoring and certificates", () => {
  const found = controllers(objects).map(({ metadata }) => unprefixed(metadata.name));
  expect(found.sort()).toEqual(["cache", ...names, "web-previous"]);
  const composeOnly = ["acme", "alertmanager", "grafana", "prometheus"];
  expect(Object.keys(services).sort()).toEqual([...composeOnly, ...names, "web-previous"].sort());
});

test.each(names)("compose and Kubernetes agree on %s", (name) => {
  const service = services[name];
  const { containers, securityContext, volumes = [] } = podOf(objects, name);
  const [{ env = [], envFrom = [], ports, resources, volumeMounts = [], ...probes }] = containers;
  const maps = envFrom.map(({ configMapRef }: Part) => find(objects, "ConfigMap", unprefixed(configMapRef.name)).data);
  const ownSettings = settings.filter(({ services, kubernetes }) => services.includes(name) && kubernetes !== false);
  const all = Object.assign({}, ...maps, defaults[name]);
  const set = [...Object.keys(all), ...env.map(({ name }: Part) => name)];
  expect(set).toEqual(expect.arrayContaining(ownSettings.map(({ name }) => name)));
  const known = ["POD_NAMESPACE", ...settings.map(({ name }) => name)];
  expect(set.filter((variable) => !known.includes(variable))).toEqual([]);

  const asked = service.healthcheck.test.join(" ").replace(/\$\$(PORT|HEALTH)\b.*/s, () => imageOf(name));
  const healthy = ["startupProbe", "livenessProbe", ...(name === "proxy" ? [] : ["readinessProbe"])];
  for (const { httpGet, tcpSocket } of healthy.map((probe) => probes[probe])) {
    const { port, path = "" } = httpGet ?? tcpSocket;
    const { containerPort } = ports.find(({ name }: Part) => name === port);
    expect(asked).toMatch(new RegExp(`\\b${containerPort}\\b[^]*${path}(?!\\w)`));
  }

  const [, timeout] = /START_TIMEOUT:-(\d+)m/.exec(service.healthcheck.timeout) ?? [];
  const { failureThreshold, periodSeconds } = probes.startupProbe;
  if (timeout) expect(failureThreshold * periodSeconds).toBe(Number(timeout) * 60);

  expect(bytes(resources.limits.memory)).toBe(composeBytes(service.mem_limit));
  const paths = volumeMounts.map(({ mountPath }: Part) => mountPath);
  const folders = (service.volumes ?? []).map((volume: string) => volume.split(":")[1]);
  expect(paths).toEqual(expect.arrayContaining(folders.filter((path: string) => path !== "/srv/certificates")));
  for (const tmpfs of service.tmpfs ?? []) {
    const [, path, uid, size = ""] = /^(\S+):uid=(\d+).*size=(\w+)/.exec(tmpfs) ?? [];
    const mount = volumeMounts.find(({ mountPath }: Part) => mountPath === path);
    const { emptyDir } = volumes.find((volume: Part) => volume.name === mount?.name) ?? {};
    const found = [securityContext.runAsUser, emptyDir?.medium, bytes(emptyDir?.sizeLimit)];
    expect(found, path).toEqual([Number(uid), "Memory", composeBytes(size)]);
  }
});
