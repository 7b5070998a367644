import { connect, type Socket } from "node:net";
import { rootCertificates, connect as tlsConnect } from "node:tls";
import { reason } from "../result.ts";
import { isAddress, TIMEOUT_MS } from "./target.ts";

/** Returns why no TCP connection could be made, or undefined. Never rejects. */
export const connection = (host: string, port: number) =>
  outcome(connect({ host, port, timeout: TIMEOUT_MS }), "connect");

/** Returns why a certificate is not trusted, as Node's code, or undefined. `ca` replaces the public CAs. Never rejects. */
export function handshake(host: string, port: number, ca?: string): Promise<string | undefined> {
  const servername = isAddress(host) ? "" : host;
  const trusted = ca ? [ca] : [...rootCertificates];
  return outcome(tlsConnect({ host, port, servername, ca: trusted, timeout: TIMEOUT_MS }), "secureConnect");
}

function outcome(socket: Socket, success: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const end = (problem?: string) => {
      socket.destroy();
      resolve(problem);
    };
    socket.on(success, () => end());
    socket.on("error", (error) => end(reason(error)));
    socket.on("timeout", () => end("timed out"));
  });
}
