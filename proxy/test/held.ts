import { type ClientHttp2Session, connect } from "node:http2";

/** Requests that were begun over HTTP/2. */
export interface Held {
  /** How many got which status so far; `closed` without one. */
  statuses: Record<string, number>;
  /** Resolves when each has its headers or was closed. */
  answered: Promise<unknown>;
}

const sessions = new Set<ClientHttp2Session>();

/** Ends all requests and their connections. */
export function closeHeld(): void {
  for (const session of sessions) session.destroy();
  sessions.clear();
}

/**
 * Begins `count` requests with these headers, a hundred on each connection; `*` in `:path` (default `/page`) is another number for each. Of
 * the bodies of responses that are not `read`, nothing is: the window is zero.
 */
export async function hold(port: number, count: number, headers: Record<string, string>, read = true): Promise<Held> {
  const statuses: Held["statuses"] = {};
  const one = (session: ClientHttp2Session, number: number) =>
    new Promise<void>((resolve) => {
      const path = (headers[":path"] ?? "/page").replace("*", String(number));
      const stream = session.request({ ":authority": `localhost:${port}`, ...headers, ":path": path });
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
      ...{ servername: "localhost", rejectUnauthorized: false },
      settings: read ? {} : { initialWindowSize: 0 },
    });
    sessions.add(session.on("error", () => undefined));
    // Nginx knows how little may be sent once it has the client's settings.
    await new Promise((resolve) => session.once("localSettings", resolve).once("close", resolve));
    begun.push(...Array.from({ length: Math.min(100, left) }, (_, n) => one(session, left - n)));
  }
  return { statuses, answered: Promise.all(begun) };
}
