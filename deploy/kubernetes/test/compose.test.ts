import { beforeAll, describe, expect, test } from "vitest";
import { compose, health, listens, loadtest, temporary } from "./lib/compose.ts";
import { containers, of, type Resource, workloads } from "./lib/objects.ts";
import { bytes, composeBytes } from "./lib/quantity.ts";
import { canRender, rendering, renderWith } from "./lib/render.ts";

/** Variables that only Kubernetes needs: web's full name. */
const kubernetesOnly = ["POD_NAMESPACE", "WEB_UPSTREAM", "WEB_FALLBACK_UPSTREAM"];

/** What the spool does not read of the ConfigMap that all share. */
const unread = (service: string, key: string) => service === "spool" && key === "HEALTH_PATH";

/** What only compose needs: Kubernetes gets certificates from cert-manager, and has NetworkPolicies. */
const composeOnly = ["ACME", "INTERNAL_NETWORK", "/srv/certificates"];

/** A service that compose does not have: CACHE_URL names an external one. */
const cache = "cache";

describe.skipIf(!canRender)("compose and Kubernetes agree", () => {
  let objects: Resource[];
  /** All services of compose, and the cache. */
  beforeAll(() => {
    objects = renderWith(["spool", "local-ingest", "tls", "ingest-ca", "http3", "shared-cache"]);
  });
  const container = (name: string) => {
    const found = containers(objects).find(({ at }) => at === `${name}/${name}`);
    if (!found) throw new Error(`Kubernetes has no ${name}`);
    return found;
  };
  /** A container's variables, from its ConfigMaps and its own. */
  const environment = (name: string): Record<string, string | undefined> => {
    const { env = [], envFrom = [] } = container(name).container;
    const maps = envFrom.map(({ configMapRef }) =>
      of(objects, "ConfigMap").find(({ metadata }) => metadata.name === configMapRef?.name),
    );
    return Object.assign(
      {},
      ...maps.map((map) => map?.data),
      Object.fromEntries(env.map(({ name, value }) => [name, value])),
    );
  };

  test("on the services and their names", () => {
    expect(
      workloads(objects)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...Object.keys(compose), cache].sort());
  });

  describe.each(Object.entries(compose))("%s:", (name, service) => {
    test("on its settings", () => {
      const names = Object.keys(environment(name)).filter((key) => !kubernetesOnly.includes(key) && !unread(name, key));
      expect(names.sort(), "settings of Kubernetes: deploy/settings").toEqual(
        Object.keys(service.environment ?? {})
          .filter((key) => !composeOnly.includes(key))
          .sort(),
      );
    });

    test("on its ports", () => {
      const ports = container(name).container.ports ?? [];
      const open = ports.map(({ containerPort, protocol = "TCP" }) => `${containerPort}/${protocol.toLowerCase()}`);
      expect(open.sort()).toEqual(listens(service));
    });

    test("on its health check", () => {
      const { livenessProbe, ports } = container(name).container;
      const { httpGet, tcpSocket } = livenessProbe ?? {};
      const port = ports?.find((one) => one.name === (httpGet ?? tcpSocket)?.port)?.containerPort;
      // To kubelet, the 404 of an app without this path would be a failure.
      const path = name === "web" ? "/healthz" : httpGet?.path;
      expect({ path, port }).toEqual(health(service));
      if (name === "web") expect(httpGet).toBeUndefined();
    });

    test("on its memory limit", () => {
      expect(bytes(container(name).container.resources?.limits?.memory ?? "0")).toBe(composeBytes(service.mem_limit));
    });

    test("on its volumes", () => {
      const all = (service.volumes ?? []).map((volume) => volume.split(":")[1] ?? "");
      const volumes = all.filter((path) => !composeOnly.includes(path));
      const mounted = (container(name).container.volumeMounts ?? []).map(({ mountPath }) => mountPath);
      expect(mounted.filter((path) => path.startsWith("/var/"))).toEqual(volumes);
    });

    test("on its security context", () => {
      const { readOnlyRootFilesystem, capabilities } = container(name).container.securityContext ?? {};
      expect([readOnlyRootFilesystem, capabilities?.drop]).toEqual([service.read_only, service.cap_drop]);
    });

    if (!service.tmpfs) return;
    test("on its user and its temporary files", () => {
      const { workload, container: own } = container(name);
      for (const { path, uid, size } of temporary(service)) {
        expect(workload.pod.securityContext?.runAsUser).toBe(uid);
        const { name } = own.volumeMounts?.find(({ mountPath }) => mountPath === path) ?? {};
        const folder = workload.pod.volumes?.find((volume) => volume.name === name)?.emptyDir;
        expect([path, folder?.medium, bytes(folder?.sizeLimit ?? "0")]).toEqual([path, "Memory", composeBytes(size)]);
      }
    });
  });

  test("on the address of the local ingest", () => {
    const [, standard] = /:-(.*)\}$/.exec(compose.web?.environment?.SENTRY_DSN ?? "") ?? [];
    for (const name of ["proxy", "web"]) {
      expect(environment(name).SENTRY_DSN?.replace(".$(POD_NAMESPACE).svc.cluster.local", "")).toBe(standard);
    }
  });

  test("on the load generator's image, user and telemetry", () => {
    const [runner] = containers(rendering("base + loadtest")).filter(({ at }) => at === "loadtest-runner/k6");
    const { runAsUser, runAsGroup } = runner?.workload.pod.securityContext ?? {};
    expect([runner?.container.image, `${runAsUser}:${runAsGroup}`]).toEqual([loadtest?.image, loadtest?.user]);
    const env = Object.fromEntries((runner?.container.env ?? []).map(({ name, value }) => [name, value]));
    // The others come from the shell.
    const fixed = Object.entries(loadtest?.environment ?? {}).filter(([, value]) => value !== null);
    expect(env).toMatchObject(Object.fromEntries(fixed));
  });
});
