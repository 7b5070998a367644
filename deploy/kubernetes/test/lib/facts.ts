import { readdirSync, readFileSync } from "node:fs";
import { root } from "./paths.ts";

/** Numbers on which the manifests depend, read from their sources. Throws if one is missing. */
export const facts = {
  /** The maximum time that Nginx waits for web's next bytes. */
  maxRequest: Math.max(...all("proxy/templates", /proxy_read_timeout\s+(\d+)s/g)),
  /** How long Nginx caches a DNS answer. */
  resolverValid: one("proxy/templates/resolver.conf", /valid=(\d+)s/),
  /** How long web needs to stop. */
  webFinish:
    (one("web/telemetry/send/shutdown.ts", /FINISH_MS = ([\d_]+)/) +
      one("web/telemetry/send/shutdown.ts", /FLUSH_MS = ([\d_]+)/)) /
    1000,
  /** How long CoreDNS caches an answer: `cache 30` in the default Corefile. */
  clusterDnsCache: 30,
  /**
   * How long a cloud load balancer may send new connections to a node whose only proxy is terminating: three health checks, 10 s
   * apart (defaultHealthCheckInterval of kubernetes-sigs/aws-load-balancer-controller) or 8 s (gceHcCheckIntervalSeconds of kubernetes/ingress-gce).
   */
  loadBalancerDeregistration: 30,
};

function one(file: string, pattern: RegExp): number {
  const [, number] = pattern.exec(readFileSync(`${root}/${file}`, "utf8")) ?? [];
  if (!number) throw new Error(`${file}: ${pattern} is missing: update facts.ts`);
  return Number(number.replaceAll("_", ""));
}

function all(folder: string, pattern: RegExp): number[] {
  const text = readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".conf"))
    .map((file) => readFileSync(`${root}/${folder}/${file}`, "utf8"))
    .join("\n");
  const found = [...text.matchAll(pattern)].map(([, number]) => Number(number));
  if (found.length === 0) throw new Error(`${folder}: ${pattern} is missing: update facts.ts`);
  return found;
}
