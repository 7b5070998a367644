import { readdirSync, readFileSync } from "node:fs";
import { root } from "./paths.ts";

/** Numbers that Kubernetes must respect, read where they are set. Throws when one is no longer there. */
export const facts = {
  /** The longest that Nginx waits for web's next bytes. */
  longestRequest: Math.max(...all("proxy/templates", /proxy_read_timeout\s+(\d+)s/g)),
  /** How long Nginx believes an answer of DNS. */
  resolverValid: one("proxy/templates/resolver.conf", /valid=(\d+)s/),
  /** What web takes to end, once told to. */
  webFinish:
    (one("web/src/telemetry/send/shutdown.ts", /FINISH_MS = ([\d_]+)/) +
      one("web/src/telemetry/send/shutdown.ts", /FLUSH_MS = ([\d_]+)/)) /
    1000,
  /** How long CoreDNS may repeat an answer: the `cache 30` of its usual Corefile. */
  clusterDnsCache: 30,
  /**
   * How long a cloud's load balancer may go on sending new connections to a node whose only proxy is leaving: three health checks, 10 s
   * apart (defaultHealthCheckInterval of kubernetes-sigs/aws-load-balancer-controller) or 8 s (gceHcCheckIntervalSeconds of kubernetes/ingress-gce).
   */
  loadBalancerNotices: 30,
};

function one(file: string, pattern: RegExp): number {
  const [, number] = pattern.exec(readFileSync(`${root}/${file}`, "utf8")) ?? [];
  if (!number) throw new Error(`${file}: ${pattern} is no longer there; say in facts.ts where the number is now`);
  return Number(number.replaceAll("_", ""));
}

function all(folder: string, pattern: RegExp): number[] {
  const text = readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".conf"))
    .map((file) => readFileSync(`${root}/${folder}/${file}`, "utf8"))
    .join("\n");
  const found = [...text.matchAll(pattern)].map(([, number]) => Number(number));
  if (found.length === 0)
    throw new Error(`${folder}: ${pattern} is no longer there; say in facts.ts where the number is now`);
  return found;
}
