import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { connect, type Socket } from "node:net";
import { pipeline } from "node:stream";
import { fileURLToPath } from "node:url";

const PORT = 1080; // in the namespace, where nothing else listens
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Whether this machine supports a network namespace for Chromium (Linux, root, Debian's iproute2). */
const possible =
  Boolean(process.env.CHROMIUM_PATH) &&
  process.getuid?.() === 0 &&
  spawnSync("unshare", ["--net", "sh", "-c", "ip link set lo up && ip link add one type veth peer name other"])
    .status === 0;

/** The program that runs Chromium in the namespace, with its arguments; undefined if there is no namespace. */
export const isolated = possible
  ? {
      executablePath: path("chromium.sh"),
      args: [`--proxy-server=socks5://127.0.0.1:${PORT}`, "--proxy-bypass-list=<-loopback>"],
    }
  : undefined;

/**
 * Playwright's global setup: a network namespace for the browser. Chromium aborts requests (ERR_NETWORK_CHANGED) whenever the
 * machine's network changes, as it does when a container starts; the namespace's network never changes.
 */
export default async function openNamespace(): Promise<() => Promise<void>> {
  if (!isolated) return async () => {};
  const child: ChildProcess = fork(path("listener.mjs"), [String(PORT)], {
    execPath: "unshare",
    execArgv: ["--net", process.execPath],
  });
  await new Promise<void>((resolve, reject) => {
    child.on("message", (message, socket) => {
      if (message === "ready") resolve();
      // Undefined if it was closed in transit.
      else if (socket) serve(socket as Socket);
    });
    child.on("exit", (code) => reject(new Error(`the browser's network ended with status ${code}`)));
  });
  process.env.BROWSER_NETWORK = `/proc/${child.pid}/ns/net`;
  return async () => {
    child.removeAllListeners("exit");
    if (child.connected) child.disconnect();
  };
}

/** Serves a SOCKS 5 client as Chromium is: without authentication, and with names. It connects to the loopback only. */
function serve(client: Socket): void {
  client.on("error", () => client.destroy());
  client.once("data", () => {
    client.write(Buffer.from([5, 0]));
    client.once("data", (request) => {
      const end = 5 + (request[4] ?? 0);
      if (!["localhost", "127.0.0.1"].includes(request.toString("latin1", 5, end))) return client.destroy();
      const server = connect(request.readUInt16BE(end), "127.0.0.1");
      server.once("connect", () => client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])));
      pipeline(client, server, client, () => {});
    });
  });
}
