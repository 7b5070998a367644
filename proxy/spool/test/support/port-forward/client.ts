import { must } from "../../../../../deploy/test/support/docker.ts";
import { waitUntil } from "../wait.ts";

/** Returns the host and port at which this machine reaches a forwarded port. */
export type FindPort = (port: number) => { host: string; port: number };

/**
 * Finds out how this machine reaches the port forward in a container that also answers on 9001. By the container's own address if
 * possible, because Docker's port forwarding has been seen to stop under load; else, as with Docker Desktop, by the published ports.
 */
export async function findPortForward(container: string): Promise<FindPort> {
  const address = await must("inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", container);
  const published = await must("port", container);
  const direct: FindPort = (port) => ({ host: address, port });
  const forwarded: FindPort = (port) => ({
    host: "127.0.0.1",
    port: Number(new RegExp(`^${port}/tcp -> 127\\.0\\.0\\.1:(\\d+)$`, "m").exec(published)?.[1]),
  });
  const answers = async (find: FindPort) => {
    const { host, port } = find(9001);
    return (await fetch(`http://${host}:${port}/count`, { signal: AbortSignal.timeout(1_000) })).ok;
  };
  let found: FindPort = direct;
  await waitUntil(async () => {
    for (found of [direct, forwarded]) if (await answers(found).catch(() => false)) return true;
    return false;
  });
  return found;
}
