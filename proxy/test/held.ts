import { type ClientHttp2Session, connect } from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { headersOf, type Request } from "./wire.ts";

const sessions = new Set<ClientHttp2Session>();
const stalled = new Map<TLSSocket, NodeJS.Timeout>();

export function closeHeld(): void {
  for (const drip of stalled.values()) clearInterval(drip);
  for (const connection of [...sessions, ...stalled.keys()]) connection.destroy();
  sessions.clear();
  stalled.clear();
}

/**
 * Begins requests over HTTP/2, a hundred on each connection; `*` in the path is another number for each. If bodies are not `read`, the
 * window is zero. `answered`: how many got which status, or were `closed`.
 */
export async function hold(port: number, count: number, request: Partial<Request>, read = true) {
  const statuses: Record<string, number> = {};
  const begin = (session: ClientHttp2Session, number: number) =>
    new Promise<void>((resolve) => {
      const path = (request.path ?? "/page").replace("*", String(number));
      const stream = session.request({ ":authority": `localhost:${port}`, ":path": path, ...headersOf(request) });
      const end = (status: number | "closed" = "closed") => {
        stream.removeAllListeners("response").removeAllListeners("close");
        statuses[status] = (statuses[status] ?? 0) + 1;
        resolve();
      };
      stream.once("response", ({ ":status": status }) => end(status)).once("close", () => end());
      stream.on("error", () => undefined).end();
      if (read) stream.resume();
    });
  const begun: Promise<void>[] = [];
  for (let left = count; left > 0; left -= 100) {
    const session = connect(`https://127.0.0.1:${port}`, {
      servername: "localhost",
      rejectUnauthorized: false,
      settings: read ? {} : { initialWindowSize: 0 },
    });
    sessions.add(session.on("error", () => undefined));
    // Nginx knows how little may be sent once it has the client's settings.
    await new Promise((resolve) => session.once("localSettings", resolve).once("close", resolve));
    begun.push(...Array.from({ length: Math.min(100, left) }, (_, n) => begin(session, left - n)));
  }
  return { answered: Promise.all(begun).then(() => statuses) };
}

/** Sends `size` bytes of a body, then one byte a second. `answer`: the status line of the response, or `cut`. */
export function stall(port: number, path: string, client: string, size: number, chunked = false) {
  const socket = connectTls({ host: "127.0.0.1", port, servername: "localhost", rejectUnauthorized: false });
  const length = chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${size + 1000}`;
  const head = [`POST ${path} HTTP/1.1`, "Host: localhost", `X-Forwarded-For: ${client}`, length, "", ""];
  socket.write(head.join("\r\n"));
  if (chunked) socket.write(`${(size + 1000).toString(16)}\r\n`);
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (bytes) => resolve(bytes.toString().split("\r\n", 1)[0] ?? ""));
    socket.on("error", () => resolve("cut")).on("close", () => resolve("cut"));
  });
  const drip = setInterval(() => socket.writable && socket.write("."), 1_000);
  stalled.set(socket, drip);
  const written = new Promise<void>((resolve) => socket.write(Buffer.alloc(size), () => resolve()));
  // A proxy that has answered reads no further.
  return { answer, written: Promise.race([written, answer]) };
}
