import { BlockList } from "node:net";
import { inBlock } from "../lib/network.ts";
import { of } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/** IPv4, written as IPv6. */
const mapped = new BlockList();
mapped.addSubnet("::ffff:0:0", 96, "ipv6");

/**
 * What an address block leaves out is a part of it, and smaller: else the API server refuses the policy. To Go an IPv4-mapped range is
 * IPv4, and so no part of ::/0: https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/apis/networking/validation/validation.go (ValidateIPBlock)
 */
export const exceptionsLieWithin: Rule = (objects) =>
  of(objects, "NetworkPolicy").flatMap(({ metadata: { name }, spec }) => {
    const peers = [
      ...(spec?.ingress ?? []).map(({ from }) => from),
      ...(spec?.egress ?? []).map(({ to }) => to),
    ].flat();
    return peers.flatMap((peer) => {
      const { cidr = "", except = [] } = peer?.ipBlock ?? {};
      return except.filter((part) => !isPart(part, cidr)).map((part) => `${name}: ${part} is no part of ${cidr}`);
    });
  });

function isPart(part: string, whole: string): boolean {
  const [address = "", length] = part.split("/");
  if (address.includes(":") && mapped.check(address, "ipv6")) return false;
  return inBlock(whole, address) && Number(length) > Number(whole.split("/")[1]);
}
