import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a server on this machine, by default on a free port. */
export async function listen(listener: RequestListener, port = 0, host = "127.0.0.1") {
  // By default Node resets a connection after 5 s, just when a busy test sends on it.
  const server = createServer({ keepAliveTimeout: 0 }, listener).unref();
  await once(server.listen(port, host), "listening");
  return { server, url: `http://${host}:${(server.address() as AddressInfo).port}` };
}
