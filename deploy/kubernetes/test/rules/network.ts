import { BlockList } from "node:net";
import { inBlock } from "../lib/network.ts";
import { of } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/** IPv4-mapped IPv6. */
const mapped = new BlockList();
mapped.addSubnet("::ffff:0:0", 96, "ipv6");

/**
 * An ipBlock's exceptions are strictly within its CIDR; else the API server rejects the policy. Go takes an IPv4-mapped range for IPv4,
 * which is not within ::/0: https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/apis/networking/validation/validation.go (ValidateIPBlock)
 */
export const exceptionsAreWithinBlock: Rule = (objects) =>
  of(objects, "NetworkPolicy").flatMap(({ metadata: { name }, spec }) => {
    const peers = [
      ...(spec?.ingress ?? []).map(({ from }) => from),
      ...(spec?.egress ?? []).map(({ to }) => to),
    ].flat();
    return peers.flatMap((peer) => {
      const { cidr = "", except = [] } = peer?.ipBlock ?? {};
      return except.filter((part) => !isPart(part, cidr)).map((part) => `${name}: ${part} is not within ${cidr}`);
    });
  });

function isPart(part: string, whole: string): boolean {
  const [address = "", length] = part.split("/");
  if (address.includes(":") && mapped.check(address, "ipv6")) return false;
  return inBlock(whole, address) && Number(length) > Number(whole.split("/")[1]);
}
