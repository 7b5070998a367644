import { type ClientHttp2Session, connect } from "node:http2";

/** Requests that were begun over HTTP/2. */
export interface Held {
  /** How many got which status so far. */
  statuses: Record<number, number>;
  /** Ends them and their connections. */
  close(): void;
}

/**
 * Begins `count` requests with these headers, a hundred on each connection. `:path` is /page unless they say else; `*` in it is another
 * number for each.
 */
export function hold(port: number, count: number, headers: Record<string, string> = {}): Held {
  const sessions: ClientHttp2Session[] = [];
  const statuses: Record<number, number> = {};
  for (let left = count; left > 0; left -= 100) {
    const session = connect(`https://127.0.0.1:${port}`, { servername: "localhost", rejectUnauthorized: false });
    sessions.push(session.on("error", () => undefined));
    for (let n = 0; n < Math.min(100, left); n++) {
      const path = (headers[":path"] ?? "/page").replace("*", String(left - n));
      const stream = session.request({ ":authority": `localhost:${port}`, ...headers, ":path": path });
      stream.on("error", () => undefined).resume();
      stream.on("response", ({ ":status": status = 0 }) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
      });
      stream.end();
    }
  }
  return {
    statuses,
    close: () => {
      for (const session of sessions.splice(0)) session.destroy();
    },
  };
}
