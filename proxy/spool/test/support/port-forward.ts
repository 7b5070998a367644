/**
 * Forwards ports of this container into the stack's network: each argument, such as `8443=proxy:8443`, leads to a container,
 * also after a restart that changed its address.
 */
import { connect, createServer } from "node:net";

for (const forward of process.argv.slice(2)) {
  const [port, host, target] = forward.split(/[=:]/);
  createServer((client) => {
    const upstream = connect({ host, port: Number(target), noDelay: true });
    client.on("error", () => upstream.destroy()).on("close", () => upstream.destroy());
    upstream.on("error", () => client.resetAndDestroy()).on("close", () => client.destroy());
    client.setNoDelay().pipe(upstream).pipe(client);
  }).listen(Number(port));
}

process.on("SIGTERM", () => process.exit(0));
