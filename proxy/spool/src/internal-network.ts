import { lookup } from "node:dns/promises";
import { BlockList, type Socket } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { logOncePerMinute } from "./log.ts";
import { StartupError } from "./startup-error.ts";

const typeOf = (address: string) => (address.includes(":") ? "ipv6" : "ipv4");

/** Returns the subnets of each interface with one of these addresses, and those of the container itself; undefined if there is none. */
export function subnets(interfaces: ReturnType<typeof networkInterfaces>, addresses: string[]): BlockList | undefined {
  const list = new BlockList();
  const all = Object.values(interfaces).map((entries) => entries ?? []);
  const found = all.filter((entries) => entries.some(({ address }) => addresses.includes(address)));
  const loopback = all.filter((entries) => entries.some(({ internal }) => internal));
  // A link-local address is the same on every network.
  for (const { address, cidr } of [...found, ...loopback].flat())
    if (!address.startsWith("fe80:")) list.addSubnet(address, Number(cidr?.split("/")[1]), typeOf(address));
  return found.length > 0 ? list : undefined;
}

/** This container's addresses in a network, by which Docker's DNS knows it with that name after its own; none if there is no answer. */
async function addressesIn(network: string): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const found = await lookup(`${hostname()}.${network}`, { all: true }).catch(() => []);
    if (found.length > 0 || attempt === 5) return found.map(({ address }) => address);
    await sleep(500);
  }
}

/** Returns a listener that closes connections from outside of this Docker network. Throws a StartupError if it is none of this container. */
export async function closeForeign(network: string): Promise<(socket: Socket) => void> {
  const internal = subnets(networkInterfaces(), await addressesIn(network));
  if (!internal)
    throw new StartupError(
      "INTERNAL_NETWORK",
      `'${network}' is no network of this container, or DNS does not answer`,
      "use the Docker network that proxy, web and spool share, such as culvert_inside",
    );
  return (socket) => {
    // Undefined if the client has closed the connection.
    const { remoteAddress } = socket;
    if (remoteAddress && internal.check(remoteAddress, typeOf(remoteAddress))) return;
    socket.destroy();
    const problem = `closed a connection from ${remoteAddress}, which is not in the network ${network}`;
    logOncePerMinute("foreign", `${problem} (INTERNAL_NETWORK)`);
  };
}
