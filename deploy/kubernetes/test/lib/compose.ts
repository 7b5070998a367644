import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { root } from "./paths.ts";

/** The fields of a service in docker-compose.yml that Kubernetes has, too. */
export interface ComposeService {
  profiles?: string[];
  image?: string;
  user?: string;
  environment?: Record<string, string | null>;
  ports?: string[];
  expose?: string[];
  tmpfs?: string[];
  volumes?: string[];
  mem_limit: string;
  read_only: boolean;
  cap_drop: string[];
  healthcheck: { test: string[] };
}

/** The services as written, without interpolation. */
const all: Record<string, ComposeService> = parse(readFileSync(`${root}/docker-compose.yml`, "utf8"), {
  merge: true,
}).services;

/** Kubernetes gets certificates from cert-manager, and monitoring from its operators. */
const composeOnly = ["loadtest", "acme", "prometheus", "grafana", "alertmanager"];
/** The long-running services that Kubernetes has too. */
export const compose = Object.fromEntries(Object.entries(all).filter(([name]) => !composeOnly.includes(name)));

/** The load test, which a command starts and which exits. */
export const loadtest = all.loadtest;

/** The ports on which a service's container listens, with that of its health check: "8443/tcp". */
export function listens(service: ComposeService): string[] {
  const published = [...(service.ports ?? []), ...(service.expose ?? [])].map((port) => port.split(":").at(-1) ?? "");
  const all = [...published, `${health(service).port}`].map((port) => (port.includes("/") ? port : `${port}/tcp`));
  return [...new Set(all)].sort();
}

/** Port and path of the health check. */
export function health({ healthcheck }: ComposeService): { port: number; path: string } {
  const command = healthcheck.test.join(" ");
  const [, port] = /(?:127\.0\.0\.1[:/]|\{ host, port: )(\d+)/.exec(command) ?? [];
  const [, path = ""] = /(?:GET |:\d+|\|\| ')(\/\w+)/.exec(command) ?? [];
  return { port: Number(port), path };
}

/** The tmpfs folders with owner and maximum size. */
export function temporary({ tmpfs = [] }: ComposeService): { path: string; uid: number; size: string }[] {
  return tmpfs.map((line) => {
    const option = (name: string) => new RegExp(`\\b${name}=(\\w+)`).exec(line)?.[1] ?? "";
    return { path: line.split(":", 1)[0] ?? "", uid: Number(option("uid")), size: option("size") };
  });
}
