import { must } from "../../../../deploy/test/support/docker.ts";
import { until } from "../stack.ts";

/** Where a port of a door is found from this machine: its address as host and port. */
export type Find = (port: number) => { host: string; port: number };

/**
 * Finds the door in a container that also answers on 9001. By the container's own address where this machine reaches it, because
 * Docker's forwarding has been seen to end under load; else, as with Docker Desktop, by the published ports.
 */
export async function findDoor(container: string): Promise<Find> {
  const address = await must("inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", container);
  const published = await must("port", container);
  const direct: Find = (port) => ({ host: address, port });
  const forwarded: Find = (port) => ({
    host: "127.0.0.1",
    port: Number(new RegExp(`^${port}/tcp -> 127\\.0\\.0\\.1:(\\d+)$`, "m").exec(published)?.[1]),
  });
  const answers = async (find: Find) => {
    const { host, port } = find(9001);
    return (await fetch(`http://${host}:${port}/count`, { signal: AbortSignal.timeout(1_000) })).ok;
  };
  let found: Find = direct;
  await until(async () => {
    for (found of [direct, forwarded]) if (await answers(found).catch(() => false)) return true;
    return false;
  });
  return found;
}
