import { BlockList } from "node:net";
import { matches, of, type Part, type Resource } from "./objects.ts";

/** The namespace of the release. */
const home = "culvert";

/** One end of a connection: a pod with labels in a namespace, or an address that is no pod's. */
export type End = { namespace: string; labels: Record<string, string> } | { address: string };

/**
 * Whether the NetworkPolicies among the objects let `from` open a connection to `to` on a port, as the API defines it:
 * a pod allows all connections until a policy selects it in that direction; then only those that some policy allows. Both
 * ends must allow it. https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function reaches(objects: Resource[], from: End, to: End, port: number, protocol = "TCP"): boolean {
  const allows = (own: End, other: End, type: "Ingress" | "Egress") => {
    const mine = of(objects, "NetworkPolicy").filter(({ spec }) => {
      if ("address" in own || own.namespace !== home) return false;
      return spec.policyTypes.includes(type) && selects(spec.podSelector, own.labels);
    });
    if (mine.length === 0) return true;
    return mine.some(({ spec }) =>
      (spec[type.toLowerCase()] ?? []).some(({ from, to, ports }: Part) => {
        const peers = from ?? to;
        if (ports && !ports.some((one: Part) => one.port === port && one.protocol === protocol)) return false;
        return !peers || peers.some((peer: Part) => isPeer(peer, other));
      }),
    );
  };
  return allows(from, to, "Egress") && allows(to, from, "Ingress");
}

function isPeer({ ipBlock, namespaceSelector, podSelector }: Part, other: End): boolean {
  if ("address" in other)
    return ipBlock && contains([ipBlock.cidr], other.address) && !contains(ipBlock.except ?? [], other.address);
  const isThere = namespaceSelector
    ? selects(namespaceSelector, { "kubernetes.io/metadata.name": other.namespace })
    : other.namespace === home;
  return !ipBlock && isThere && selects(podSelector ?? {}, other.labels);
}

/** Whether one of the blocks, of the address' family, contains the address. */
function contains(blocks: string[], address: string): boolean {
  const family = (one: string) => (one.includes(":") ? "ipv6" : "ipv4");
  const list = new BlockList();
  for (const [network = "", prefix] of blocks.map((one) => one.split("/")))
    if (family(network) === family(address)) list.addSubnet(network, Number(prefix), family(network));
  return list.check(address, family(address));
}

/** Throws at an operator that the chart does not use. */
function selects({ matchLabels, matchExpressions = [] }: Part, labels: Record<string, string>): boolean {
  const isIn = ({ key, operator, values }: Part) => {
    if (operator !== "In") throw new Error(`${operator}: teach network.ts`);
    return values.includes(labels[key]);
  };
  return matches(matchLabels, labels) && matchExpressions.every(isIn);
}
