import { connect, isIP, type Socket } from "node:net";
import { type TLSSocket, connect as tlsConnect } from "node:tls";

/** Where the proxy answers, and the name that it serves. */
export interface Target {
  /** What to connect to: inside the stack's network this is not the name that is served. */
  host: string;
  port: number;
  /** For SNI and the Host header. */
  name: string;
  /** The port in the Host header and in addresses; undefined when it is 443. */
  publicPort?: number;
  /** Whether connections begin with the PROXY protocol. */
  proxyProtocol?: boolean;
  basePath: string;
  tunnelPath: string;
}

export const TIMEOUT_MS = 10_000;

/** Whether a host is an IP address, which SNI does not allow. */
export const isAddress = (host: string) => isIP(host) > 0;

/** Opens a TCP connection to the target that speaks the PROXY protocol where it must. */
export function open({ host, port, proxyProtocol }: Target): Socket {
  const socket = connect({ host, port, timeout: TIMEOUT_MS });
  socket.on("timeout", () => socket.destroy(new Error("timed out")));
  // https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, 2.1: the connection's own address is used.
  if (proxyProtocol) socket.write("PROXY UNKNOWN\r\n");
  return socket;
}

/** Opens a TLS connection to the target without verifying its certificate, and returns it after the handshake. Rejects if there is none. */
export function openTls(target: Target, protocols: string[] = ["http/1.1"]): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = open(target).on("error", reject);
    const secure = tlsConnect({
      socket,
      servername: isAddress(target.name) ? "" : target.name,
      ALPNProtocols: protocols,
      rejectUnauthorized: false,
    });
    secure.once("secureConnect", () => resolve(secure)).on("error", reject);
    secure.once("close", () => reject(new Error("connection closed during the TLS handshake")));
  });
}
