import { type ChildProcess, fork, spawnSync } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { serve } from "./socks.ts";

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
      else if (socket) serve(socket as Socket).catch(() => (socket as Socket).destroy());
    });
    child.on("exit", (code) => reject(new Error(`the browser's network ended with status ${code}`)));
  });
  process.env.BROWSER_NETWORK = `/proc/${child.pid}/ns/net`;
  return async () => {
    child.removeAllListeners("exit");
    if (child.connected) child.disconnect();
  };
}
