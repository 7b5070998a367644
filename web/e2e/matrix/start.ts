import { expect } from "@playwright/test";
import { must, restricted } from "../../../deploy/test/support/docker.ts";
import type { Lab } from "../test-network.ts";

/** A service as docker-compose.yml runs it: what `docker run` needs to do the same. */
interface Service {
  tmpfs: string[];
  mem_limit: string;
  healthcheck: { test: string[] };
}

/** An app and its proxy. */
export interface App {
  origin: string;
  /** What the app, or its proxy, has written so far. */
  log(of: "app" | "proxy"): Promise<string>;
}

/** How an app is started: it and its proxy get `settings`, as from compose; `mounts` maps host file to path, in both. */
interface Start {
  settings?: Record<string, string>;
  /** Given to the app alone. */
  own?: Record<string, string>;
  mounts?: Record<string, string>;
}

/** The name of an app's image. */
export const image = (name: string) => `${process.env.COMPOSE_PROJECT_NAME}-matrix-${name}`;

/** Runs an app and a proxy in front of it as docker-compose.yml runs `web` and `proxy`, and waits until both count as healthy. */
export async function startApp(lab: Lab, name: string, start: Start = {}): Promise<App> {
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
  await lab.run(name, as(web, own), image(name));
  const [, ...isHealthy] = web.healthcheck.test;
  await expect(() => lab.exec(name, ...isHealthy)).toPass({ timeout: 60_000 });
  const front = { SENTRY_DSN: "http://culvert@recorder:9000/1", WEB_UPSTREAM: `${name}:3000` };
  const port = await lab.run(`${name}-proxy`, as(proxy, front), `${process.env.COMPOSE_PROJECT_NAME}-proxy`, 8443);
  const isReady = ["curl", "-fsS", "http://127.0.0.1:8081/readyz"];
  await expect(() => lab.exec(`${name}-proxy`, ...isReady)).toPass({ timeout: 60_000 });
  return {
    origin: `https://localhost:${port}`,
    log: (of: "app" | "proxy") => lab.log(of === "app" ? name : `${name}-proxy`),
  };
}
