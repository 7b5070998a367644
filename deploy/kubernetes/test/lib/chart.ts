import { execFileSync } from "node:child_process";
import { parseAllDocuments } from "yaml";
import { root } from "../../../test/support/docker.ts";
import type { Resource } from "./objects.ts";

export const chart = `${root}deploy/kubernetes`;

export const command = execFileSync("sh", [`${chart}/helm.sh`], { encoding: "utf8" }).trim();

/** Later values win. Throws with Helm's message. */
export function helm(args: string[], values: object[] = []): string {
  const set = values.map((each) => `--set-json=${JSON.stringify(each)}`);
  const options = { encoding: "utf8", stdio: "pipe", maxBuffer: 64 << 20 } as const;
  return execFileSync(command, [...args, ...set], options);
}

export const images = (tag: string, registry = "registry.example.com") =>
  Object.fromEntries(
    ["proxy", "web", "spool"].map((name) => [name, { image: { repository: `${registry}/culvert-${name}`, tag } }]),
  );

/** Helm reads YAML 1.1. */
export const parse = (yaml: string): Resource[] =>
  parseAllDocuments(yaml, { version: "1.1" }).flatMap((document) => document.toJS() ?? []);

export function template(values: object[], { release = "culvert", example = "", from = chart } = {}): Resource[] {
  const file = example ? [`--values=${chart}/values/${example}.yaml`] : [];
  return parse(helm(["template", release, from, "--namespace=culvert", ...file], values));
}

const clusterIp = { service: { type: "ClusterIP" }, tls: { existingSecret: "" }, autoscaling: { enabled: false } };
export const front = { proxy: clusterIp, settings: { TRUSTED_PROXIES: "10.244.0.0/16" } };
const base = images("1.0.0");
const all = [
  base,
  { web: { previousRelease: { image: { tag: "0.9.0" } } }, sentry: { caConfigMap: "ingest-ca" } },
  { proxy: { http3: { enabled: true }, tls: { certManager: { enabled: true } } } },
  { cache: { enabled: true }, monitoring: { enabled: true }, networkPolicy: { defaultDeny: true } },
  { localIngest: { enabled: true, image: { tag: "1.0.0" } } },
];
const settings = { ...front.settings, PROXY_PROTOCOL: "on", SERVER_NAME: "app.example.com" };
const gateway = { gateway: { enabled: true, className: "x" }, proxy: { service: clusterIp.service } };
export const withoutWeb = { web: { enabled: false }, proxy: base.proxy, spool: base.spool };
const tunnelAlone = {
  proxy: { sdkTunnelPaths: ["/1abc2de"] },
  ingress: { enabled: true },
  networkPolicy: { app: [{ podSelector: { matchLabels: { "app.kubernetes.io/name": "another" } } }] },
};

let rendered: Map<string, Resource[]> | undefined;
export function everything(): Map<string, Resource[]> {
  rendered ??= new Map<string, Resource[]>([
    ["local", template([], { example: "local" })],
    ["production", template([], { example: "production" })],
    ["defaults", template([base])],
    ["PROXY protocol", template([base, { settings }])],
    ["ingress", template([base, front, { ingress: { enabled: true, className: "traefik" } }])],
    ["route", template([base, front, { httpRoute: { enabled: true, parentRefs: [{ name: "x", namespace: "y" }] } }])],
    ["gateway", template([base, gateway])],
    ["tunnel alone", template([withoutWeb, front, tunnelAlone])],
    ["everything", template(all)],
  ]);
  return rendered;
}

export function rendering(name: string): Resource[] {
  const found = everything().get(name);
  if (!found) throw new Error(`there is no rendering ${name}`);
  return found;
}
