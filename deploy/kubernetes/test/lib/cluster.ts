import { parseFacts } from "../../../checks/cluster/facts.ts";
import { check } from "../../../checks/cluster/verify.ts";
import { variables } from "./kubelet.ts";
import { controllers, podOf, type Resource } from "./objects.ts";

/** What verify.sh collects. */
export interface World {
  objects: Resource[];
  nodes: Resource[];
  /** What their pods say: lines of ask-proxy.sh by their first two words, the JSON of ask.mjs. */
  proxy: Record<string, string>;
  web: { asked: Record<string, number | string>; isReached: boolean; settings: Record<string, string> };
  sections: Record<string, string>;
}

const ready = { conditions: [{ type: "Ready", status: "True" }] };

/** With the pods, addresses and statuses of a healthy deployment. */
export function healthy(manifests: Resource[]): Resource[] {
  const objects = structuredClone(manifests).filter(({ kind }) => !/^(Pod|ServiceAccount)$/.test(kind));
  for (const controller of controllers(objects)) {
    const { replicas = 2, template } = controller.spec;
    controller.spec.replicas = replicas;
    controller.status = { observedGeneration: 1, replicas, updatedReplicas: replicas, availableReplicas: replicas };
    for (let at = 0; at < replicas; at += 1)
      objects.push({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `${controller.metadata.name}-${at}`, labels: template.metadata.labels },
        spec: { ...structuredClone(template.spec), nodeName: `node-${at}` },
        status: { ...structuredClone(ready), podIP: `10.0.0.${3 + at}` },
      });
  }
  return objects;
}

export function production(manifests: Resource[]): World {
  const objects = healthy(manifests);
  const secrets = { sentry: { dsn: "https://0123456789abcdef@sentry.example.com/2" } };
  const environment = (name: string) => {
    const all = variables(manifests, podOf(manifests, name).containers[0], secrets);
    const [WEB_PREVIOUS, WEB_CURRENT] = all.WEB_SETS?.split(" ") ?? [];
    return { ...all, ...(WEB_PREVIOUS && { WEB_PREVIOUS, WEB_CURRENT }) };
  };
  const asked = [
    "WEB_UPSTREAM",
    "WEB_FALLBACK_UPSTREAM",
    "WEB_CURRENT",
    "WEB_PREVIOUS",
    "SPOOL_UPSTREAM",
    "SPOOL_FALLBACK_UPSTREAM",
    "ingest",
    "spool:10.0.0.3:8082",
    "spool:10.0.0.4:8082",
  ];
  return {
    objects,
    nodes: ["node-0", "node-1", "node-2"].map((name) => {
      return { apiVersion: "v1", kind: "Node", metadata: { name }, status: structuredClone(ready) };
    }),
    proxy: {
      ...Object.fromEntries(Object.entries(environment("proxy")).map(([name, value]) => [`set ${name}`, value])),
      ...Object.fromEntries(asked.map((name) => [`ask ${name}`, "0 200 1 0"])),
      "ask server": "0 200 1 0 accepted",
      "queued 10.0.0.3:8082": "3",
      "queued 10.0.0.4:8082": "3",
      metrics: "1",
    },
    web: { asked: { SERVER_TUNNEL: 405, SPOOL_UPSTREAM: 200 }, isReached: false, settings: environment("web") },
    sections: {},
  };
}

export function collected({ objects, nodes, proxy, web, sections }: World): string {
  const said = Object.entries(proxy).map((line) => line.join(" "));
  const { serving } = parseFacts(`\n== objects\n${JSON.stringify({ items: objects })}\n`);
  const all = {
    objects: JSON.stringify({ items: objects }),
    nodes: JSON.stringify({ items: nodes }),
    proxy: serving("proxy").length > 0 ? said.join("\n") : "",
    web: serving("web").length > 0 ? JSON.stringify(web) : "",
    ...sections,
  };
  const written = Object.entries(all).map(([name, text]) => `\n== ${name}\n${text}\n`);
  return written.join("");
}

/** `state check: found: fix`. */
export const linesOf = (text: string): string[] =>
  check(parseFacts(text)).map(({ state, check, found, fix }) =>
    [`${state} ${check}`, found, fix].filter(Boolean).join(": "),
  );
