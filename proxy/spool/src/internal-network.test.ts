import assert from "node:assert/strict";
import type { networkInterfaces } from "node:os";
import { test } from "vitest";
import { subnets } from "./internal-network.ts";

const one = (cidr: string, internal = false) => {
  const [address = ""] = cidr.split("/");
  return { address, cidr, family: address.includes(":") ? "IPv6" : "IPv4", internal };
};
const interfaces = {
  lo: [one("127.0.0.1/8", true), one("::1/128", true)],
  eth0: [one("172.18.0.4/16"), one("fd00:18::4/64"), one("fe80::1/64")],
  eth1: [one("10.5.1.66/26"), one("fd00:5::4/64"), one("fe80::2/64")],
} as unknown as ReturnType<typeof networkInterfaces>;

test.each([
  [true, "10.5.1.65 10.5.1.126 ::ffff:10.5.1.65 fd00:5::9 127.0.0.1 ::ffff:127.0.0.1 ::1"],
  [false, "10.5.1.63 10.5.1.128 172.18.0.4 ::ffff:172.18.0.9 fd00:18::4 fe80::9 192.0.2.1"],
])("the subnets of the interface with the address, and the container itself, are internal: %s for %s", (is, all) => {
  const list = subnets(interfaces, ["10.5.1.66"]);
  for (const address of all.split(" "))
    assert.equal(list?.check(address, address.includes(":") ? "ipv6" : "ipv4"), is, address);
});
test("addresses of no interface are those of another container, or of none", () => {
  assert.equal(subnets(interfaces, ["10.5.1.67"]), undefined);
  assert.equal(subnets(interfaces, []), undefined);
});
