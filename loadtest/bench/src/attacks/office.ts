/** What a browser in an office requests of the app over HTTP/2: pages, prefetches of their links, and calls of an API. */
import type { ClientHttp2Session } from "node:http2";
import { setTimeout as pause } from "node:timers/promises";

/** Called with each response: of which kind, and how long it took. */
type Note = (kind: string, status: number, milliseconds: number) => void;

const [PREFETCHES, CALLS] = [5, 2];
/** Between two pages, on average. */
const THINK_MS = 20_000;

const kinds: Record<string, Record<string, string>> = {
  page: { accept: "text/html", "sec-fetch-mode": "navigate" },
  prefetch: { accept: "*/*", rsc: "1", "next-router-prefetch": "1" },
  "API call": { accept: "*/*", ":path": "/api/x" },
};

/** Requests a page now and then, and what follows from it, all at once, until the session closes. */
export async function browse(session: ClientHttp2Session, host: string, path: string, note: Note): Promise<void> {
  const request = (kind: string, target = path) =>
    new Promise<string | undefined>((resolve) => {
      const start = performance.now();
      const stream = session.request({
        ":authority": host,
        ":path": target,
        "accept-encoding": "gzip",
        ...kinds[kind],
      });
      let location: string | undefined;
      let status = 0;
      stream.once("response", (headers) => {
        location = headers.location;
        status = headers[":status"] ?? 0;
      });
      stream.on("error", () => undefined).resume();
      stream.on("close", () => {
        // Next redirects a prefetch without the hash of its headers to the address with it.
        if (!location) note(kind, status, performance.now() - start);
        resolve(location);
      });
    });
  await pause(Math.random() * THINK_MS);
  const prefetched = await request("prefetch");
  while (!session.closed && !session.destroyed) {
    await request("page");
    await Promise.all([
      ...Array.from({ length: PREFETCHES }, () => request("prefetch", prefetched)),
      ...Array.from({ length: CALLS }, () => request("API call")),
    ]);
    await pause(THINK_MS * (0.5 + Math.random()));
  }
}
