/**
 * The way into a stack from this machine: each port that `DOORS` names (`8443=proxy:8443 …`) leads to a container of the stack's
 * network, whatever address that has when it comes back from a restart.
 */
import { connect, createServer } from "node:net";

for (const door of (process.env.DOORS ?? "").split(" ")) {
  const [port, host, to] = door.split(/[=:]/);
  createServer((inside) => {
    const outside = connect({ host, port: Number(to), noDelay: true });
    inside.on("error", () => outside.destroy()).on("close", () => outside.destroy());
    outside.on("error", () => inside.resetAndDestroy()).on("close", () => inside.destroy());
    inside.setNoDelay().pipe(outside).pipe(inside);
  }).listen(Number(port));
}

process.on("SIGTERM", () => process.exit(0));
