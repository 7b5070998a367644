import { BlockList } from "node:net";
import type { INetworkPolicyPeer } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicyPeer";
import type { INetworkPolicyPort } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicyPort";
import { of, type Resource } from "./objects.ts";

/** One end of a connection: a pod with labels in a namespace, or an address that is no pod's. */
export type End =
  | { namespace: string; namespaceLabels: Record<string, string>; labels: Record<string, string> }
  | { address: string };

/**
 * Whether the NetworkPolicies among the objects let `from` open a connection to `to` on a port, as the API defines it:
 * a pod allows all connections until a policy selects it in that direction; then only those that some policy allows. Both
 * ends must allow it. https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function reaches(objects: Resource[], from: End, to: End, port: number, protocol = "TCP"): boolean {
  const policies = of(objects, "NetworkPolicy");
  const side = (own: End, other: End, type: "Ingress" | "Egress") => {
    const mine = policies.filter(({ metadata, spec }) => {
      if ("address" in own || metadata.namespace !== own.namespace) return false;
      return spec?.policyTypes?.includes(type) && selects(spec.podSelector ?? {}, own.labels);
    });
    if (mine.length === 0) return true;
    return mine.some(({ metadata, spec }) => {
      const rules =
        type === "Ingress"
          ? spec?.ingress?.map((rule) => ({ peers: rule.from, ports: rule.ports }))
          : spec?.egress?.map((rule) => ({ peers: rule.to, ports: rule.ports }));
      return (rules ?? []).some(
        ({ peers, ports }) =>
          (!ports || ports.some((allowed) => portMatches(allowed, port, protocol))) &&
          (!peers || peers.some((peer) => peerMatches(peer, other, metadata.namespace ?? ""))),
      );
    });
  };
  return side(from, to, "Egress") && side(to, from, "Ingress");
}

function portMatches(allowed: INetworkPolicyPort, port: number, protocol: string): boolean {
  if ((allowed.protocol ?? "TCP") !== protocol) return false;
  if (typeof allowed.port === "string")
    throw new Error(`port ${allowed.port}: several network plugins know no names here`);
  return allowed.port === undefined || (port >= allowed.port && port <= (allowed.endPort ?? allowed.port));
}

function peerMatches(peer: INetworkPolicyPeer, other: End, home: string): boolean {
  if ("address" in other)
    return (
      !!peer.ipBlock &&
      inBlock(peer.ipBlock.cidr, other.address) &&
      !(peer.ipBlock.except ?? []).some((cidr) => inBlock(cidr, other.address))
    );
  if (peer.ipBlock) return false;
  const place = peer.namespaceSelector
    ? selects(peer.namespaceSelector, other.namespaceLabels)
    : other.namespace === home;
  return place && selects(peer.podSelector ?? {}, other.labels);
}

/** Whether an address is in a block of the same address family. */
export function inBlock(cidr: string, address: string): boolean {
  const [network = "", prefix] = cidr.split("/");
  const family = network.includes(":") ? "ipv6" : "ipv4";
  if (address.includes(":") !== (family === "ipv6")) return false;
  const block = new BlockList();
  block.addSubnet(network, Number(prefix), family);
  return block.check(address, family);
}

interface Selector {
  matchLabels?: Record<string, string> | undefined;
  matchExpressions?: { key: string; operator: string; values?: string[] | undefined }[] | undefined;
}

function selects({ matchLabels, matchExpressions }: Selector, labels: Record<string, string>): boolean {
  return (
    Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (matchExpressions ?? []).every(({ key, operator, values }) => {
      const listed = values?.includes(labels[key] ?? "") ?? false;
      if (operator === "In") return key in labels && listed;
      if (operator === "NotIn") return !listed;
      if (operator === "Exists") return key in labels;
      if (operator === "DoesNotExist") return !(key in labels);
      throw new Error(`unknown operator ${operator}`);
    })
  );
}
