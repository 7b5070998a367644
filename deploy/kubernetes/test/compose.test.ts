import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { compose, health, listens, loadtest, temporary } from "./lib/compose.ts";
import { containers, of, type Resource, workloads } from "./lib/objects.ts";
import { root } from "./lib/paths.ts";
import { bytes, composeBytes } from "./lib/quantity.ts";
import { canRender, rendering, renderWith } from "./lib/render.ts";

/** What only Kubernetes has to say: where web is, in a network without search domains. */
const kubernetesOnly = ["POD_NAMESPACE", "WEB_UPSTREAM", "WEB_FALLBACK_UPSTREAM"];

/** The service that a compose user brings along: CACHE_URL. */
const cache = "cache";

describe.skipIf(!canRender)("compose and Kubernetes agree", () => {
  let objects: Resource[];
  /** Everything that compose has; beyond that, the cache alone. */
  beforeAll(() => {
    objects = renderWith(["spool", "local-ingest", "tls", "ingest-ca", "http3", "shared-cache"]);
  });
  const container = (name: string) => {
    const found = containers(objects).find(({ at }) => at === `${name}/${name}`);
    if (!found) throw new Error(`Kubernetes has no ${name}`);
    return found;
  };
  /** A container's variables: from its ConfigMaps, then its own. */
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
    test("on every setting it is given", () => {
      const names = Object.keys(environment(name)).filter((key) => !kubernetesOnly.includes(key));
      expect(names.sort(), "settings of Kubernetes: deploy/settings").toEqual(
        Object.keys(service.environment ?? {}).sort(),
      );
    });

    test("on the ports it listens on", () => {
      const ports = container(name).container.ports ?? [];
      const open = ports.map(({ containerPort, protocol = "TCP" }) => `${containerPort}/${protocol.toLowerCase()}`);
      expect(open.sort()).toEqual(listens(service));
    });

    test("on the question that tells its health", () => {
      const { livenessProbe, ports } = container(name).container;
      if (livenessProbe?.exec) return expect(livenessProbe.exec.command).toEqual(service.healthcheck.test.slice(1));
      const { path, port } = livenessProbe?.httpGet ?? {};
      expect({ path, port: ports?.find((candidate) => candidate.name === port)?.containerPort }).toEqual(
        health(service),
      );
    });

    test("on its memory", () => {
      expect(bytes(container(name).container.resources?.limits?.memory ?? "0")).toBe(composeBytes(service.mem_limit));
    });

    test("on the folders that are its own", () => {
      const kept = (service.volumes ?? []).map((volume) => volume.split(":")[1]);
      const mounted = (container(name).container.volumeMounts ?? []).map(({ mountPath }) => mountPath);
      expect(mounted.filter((path) => path.startsWith("/var/"))).toEqual(kept);
    });

    test("on what it may not do", () => {
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

  test("on the load generator, its user and what it may not send home", () => {
    const [runner] = containers(rendering("base + loadtest")).filter(({ at }) => at === "loadtest-runner/k6");
    const { runAsUser, runAsGroup } = runner?.workload.pod.securityContext ?? {};
    expect([runner?.container.image, `${runAsUser}:${runAsGroup}`]).toEqual([loadtest?.image, loadtest?.user]);
    const given = Object.fromEntries((runner?.container.env ?? []).map(({ name, value }) => [name, value]));
    // The others are passed on from the shell.
    const fixed = Object.entries(loadtest?.environment ?? {}).filter(([, value]) => value !== null);
    expect(given).toMatchObject(Object.fromEntries(fixed));
  });

  test.each(["CONSOLE", "SENTRY_TRACES_SAMPLE_RATE"])("on %s, which a DSN of one's own changes", (name) => {
    const [, withOwn] = /SENTRY_DSN:\+([\w.]+)/.exec(compose.web?.environment?.[name] ?? "") ?? [];
    const value = (all: Resource[]) => of(all, "ConfigMap").flatMap(({ data }) => data?.[name] ?? [])[0];
    expect(withOwn).toBeDefined();
    expect([value(objects), value(rendering("production"))]).toEqual(["", withOwn]);
  });

  test("on the other values: defaults stay in the images, or are the same", () => {
    const entrypoint = readFileSync(`${root}/proxy/entrypoint.sh`, "utf8");
    const settings = of(objects, "ConfigMap").flatMap(({ data }) => Object.entries(data ?? {}));
    for (const [name, value] of settings.filter(([, value]) => value)) {
      expect(entrypoint).toContain(`${name}="\${${name}:-${value}}"`);
    }
  });
});
