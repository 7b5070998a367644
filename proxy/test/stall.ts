import { connect, type TLSSocket } from "node:tls";

const open = new Map<TLSSocket, NodeJS.Timeout>();

/** How a body is sent that does not end. */
export interface Stalled {
  path: string;
  /** The client IP, for a proxy that trusts X-Forwarded-For. */
  client: string;
  /** How many bytes are sent at once. */
  size: number;
  chunked?: boolean;
}

/**
 * Sends a request's body but for its last bytes, then one byte a second.
 * @returns when it has been written, with the status line of the response, should one come, or `cut`
 */
export function stall(port: number, { path, client, size, chunked }: Stalled): Promise<{ answer: Promise<string> }> {
  const socket = connect({ host: "127.0.0.1", port, servername: "localhost", rejectUnauthorized: false });
  const length = chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${size + 100}`;
  const head = [`POST ${path} HTTP/1.1`, "Host: localhost", `X-Forwarded-For: ${client}`, length, "", ""];
  socket.write(head.join("\r\n"));
  if (chunked) socket.write(`${(size + 100).toString(16)}\r\n`);
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (bytes) => resolve(bytes.toString().split("\r\n", 1)[0] ?? ""));
    socket.on("error", () => resolve("cut")).on("close", () => resolve("cut"));
  });
  open.set(
    socket,
    setInterval(() => socket.writable && socket.write("."), 1_000),
  );
  return new Promise((resolve) => {
    // A proxy that has answered reads no further.
    answer.then(() => resolve({ answer }));
    socket.write(Buffer.alloc(size), () => resolve({ answer }));
  });
}

/** Ends all stalled requests. */
export function endStalled(): void {
  for (const [socket, drip] of open) {
    clearInterval(drip);
    socket.destroy();
  }
  open.clear();
}
