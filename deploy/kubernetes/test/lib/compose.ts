import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { root } from "./paths.ts";

/** A service of docker-compose.yml, as far as Kubernetes has the same thing. */
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

/** The services as written: interpolations are left as they stand, since the file is compared, not run. */
const all: Record<string, ComposeService> = parse(readFileSync(`${root}/docker-compose.yml`, "utf8"), {
  merge: true,
}).services;

/** What runs for as long as the stack does. */
export const compose = Object.fromEntries(Object.entries(all).filter(([name]) => name !== "loadtest"));

/** What a command starts, and what ends by itself. */
export const loadtest = all.loadtest;

/** The ports on which a service's container listens, the one its health check asks included: "8443/tcp". */
export function listens(service: ComposeService): string[] {
  const published = [...(service.ports ?? []), ...(service.expose ?? [])].map((port) => port.split(":").at(-1) ?? "");
  const all = [...published, `${health(service).port}`].map((port) => (port.includes("/") ? port : `${port}/tcp`));
  return [...new Set(all)].sort();
}

/** What the health check asks. */
export function health({ healthcheck }: ComposeService): { port: number; path: string } {
  const [, port, path = ""] = /127\.0\.0\.1(?::|', port: )(\d+)(\/\w+)?/.exec(healthcheck.test.join(" ")) ?? [];
  return { port: Number(port), path };
}

/** The folders in memory, whose files they hold, and how many bytes of them at most. */
export function temporary({ tmpfs = [] }: ComposeService): { path: string; uid: number; size: string }[] {
  return tmpfs.map((line) => {
    const option = (name: string) => new RegExp(`\\b${name}=(\\w+)`).exec(line)?.[1] ?? "";
    return { path: line.split(":", 1)[0] ?? "", uid: Number(option("uid")), size: option("size") };
  });
}
