import { type ClientHttp2Session, connect } from "node:http2";

/** Nginx's own limit for one connection. */
const streams = 128;

/** Responses that a client requested and does not read. */
export interface Unread {
  /** How many requests got which status; `closed` without one. */
  statuses: Record<string, number>;
  close(): void;
}

/**
 * Requests a path `count` times over HTTP/2 as this client (X-Forwarded-For), and reads nothing of the responses' bodies: the window is
 * zero. Resolves when each has its headers or was closed.
 */
export async function requestUnread(port: number, path: string, client: string, count: number): Promise<Unread> {
  const sessions: ClientHttp2Session[] = [];
  const unread: Unread = {
    statuses: {},
    close: () => {
      for (const session of sessions) session.destroy();
    },
  };
  const one = (session: ClientHttp2Session) =>
    new Promise<void>((resolve) => {
      const headers = { "x-forwarded-for": client, "accept-encoding": "gzip" };
      const stream = session.request({ ":path": path, ":authority": `localhost:${port}`, ...headers });
      const end = (status: number | "closed" = "closed") => {
        stream.removeAllListeners("response").removeAllListeners("close");
        unread.statuses[status] = (unread.statuses[status] ?? 0) + 1;
        resolve();
      };
      stream.once("response", ({ ":status": status }) => end(status)).once("close", () => end());
      stream.on("error", () => undefined);
    });
  for (let left = count; left > 0; left -= streams) {
    const session = connect(`https://127.0.0.1:${port}`, {
      ...{ servername: "localhost", rejectUnauthorized: false },
      settings: { initialWindowSize: 0 },
    });
    sessions.push(session.on("error", () => undefined));
    // Nginx knows how little may be sent once it has the client's settings.
    await new Promise((resolve) => session.once("localSettings", resolve).once("close", resolve));
    await Promise.all(Array.from({ length: Math.min(streams, left) }, () => one(session)));
  }
  return unread;
}
