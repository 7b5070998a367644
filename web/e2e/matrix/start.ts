import { expect } from "@playwright/test";
import { must, restricted } from "../../../deploy/test/support/docker.ts";
import type { TestNetwork } from "../test-network.ts";

/** The part of a service in docker-compose.yml that `docker run` needs to run it the same way. */
interface Service {
  tmpfs: string[];
  mem_limit: string;
  healthcheck: { test: string[] };
}

/** An app and its proxy. */
export interface App {
  origin: string;
  /** The app's output so far. */
  log(): Promise<string>;
  /** Runs the health check of docker-compose.yml, and asks the proxy for its probe of the app. */
  check(): Promise<void>;
}

/** How an app is started: it and its proxy get `settings`, as from compose; `mounts` maps host file to path, in both. */
interface Start {
  settings?: Record<string, string>;
  /** For the app only. */
  own?: Record<string, string>;
  mounts?: Record<string, string>;
}

/** The name of an app's image. */
export const image = (name: string) => `${process.env.COMPOSE_PROJECT_NAME}-matrix-${name}`;

/** Runs an app and a proxy in front of it as docker-compose.yml runs `web` and `proxy`, and waits until both are healthy. */
export async function startApp(network: TestNetwork, name: string, start: Start = {}): Promise<App> {
  const { settings = {}, own = {}, mounts = {} } = start;
  const config = await must("compose", "-f", "docker-compose.yml", "config", "--format", "json");
  const { web, proxy }: Record<"web" | "proxy", Service> = JSON.parse(config).services;
  const as = ({ tmpfs, mem_limit }: Service, environment: Record<string, string>) => [
    ...restricted,
    ...tmpfs.map((folder) => `--tmpfs=${folder}`),
    `--memory=${mem_limit}`,
    ...Object.entries(mounts).map(([file, path]) => `--volume=${file}:${path}:ro`),
    ...Object.entries({ ...settings, ...environment }).map(([key, value]) => `--env=${key}=${value}`),
  ];
  await network.run(name, [...as(web, own), image(name)]);
  const [, ...isHealthy] = web.healthcheck.test;
  await expect(() => network.exec(name, ...isHealthy)).toPass({ timeout: 180_000 });
  // The policy is the default of docker-compose.yml with WEB_IMAGE.
  const front = {
    SENTRY_DSN: "http://culvert@recorder:9000/1",
    WEB_UPSTREAM: `${name}:3000`,
    CONTENT_SECURITY_POLICY: "off",
  };
  const proxyImage = `${process.env.COMPOSE_PROJECT_NAME}-proxy`;
  const port = await network.run(`${name}-proxy`, [...as(proxy, front), proxyImage], 8443);
  const isReady = ["curl", "-fsS", "http://127.0.0.1:8081/readyz"];
  await expect(() => network.exec(`${name}-proxy`, ...isReady)).toPass({ timeout: 180_000 });
  return {
    origin: `https://localhost:${port}`,
    log: () => network.log(name),
    check: async () => {
      await network.exec(name, ...isHealthy);
      await network.exec(`${name}-proxy`, "curl", "-sS", "http://127.0.0.1:8081/web/healthz");
    },
  };
}
