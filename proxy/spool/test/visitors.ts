import { Agent, request } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { envelope, newId } from "./report.ts";
import { type Stack, until } from "./stack.ts";

/** What visitors saw. */
export interface Visits {
  /** The ids of all reports; each was offered until it was answered 200, as the browser's own queue does. */
  ids: string[];
  /** How many times a report had to be offered again, by what came instead of 200. */
  again: Record<string, number>;
  pages: { seen: number; failed: (number | string)[] };
}

// As many connections as there are visitors: one that waits keeps no other from sending.
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const kinds = ["event", "event", "transaction", "session", "replay_event", "log", "feedback", "profile_chunk"];

/** One request to the proxy, a report where there is a body; resolves with its status, or with why there was no answer. */
export function ask(port: number, path: string, body?: Buffer): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, path, agent, method: body ? "POST" : "GET", servername: "localhost" };
    const headers = { host: `localhost:${port}`, ...(body && { "content-type": "text/plain" }) };
    const outgoing = request({ ...options, headers, timeout: 15_000 }, (response) => {
      response.resume().on("error", () => {});
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("close", () => resolve("cut"));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("timeout")));
    outgoing.on("error", ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
    outgoing.end(body);
  });
}

/** Resolves when this many further reports have been sent. */
export type More = (reports: number) => Promise<void>;

/**
 * Visitors who send `rate` reports of all kinds a second, of 2 KB, and ask for `path` ten times a second, while `faults` runs. Resolves
 * when it is over and every report has been answered 200.
 */
export async function visit(
  stack: Stack,
  rate: number,
  faults: (more: More) => Promise<void>,
  path = "/upstream",
): Promise<Visits> {
  const visits: Visits = { ids: [], again: {}, pages: { seen: 0, failed: [] } };
  let port = await stack.port();
  await until(async () => (await ask(port, path)) === 200);
  let over = false;
  const open = new Set<Promise<void>>();
  const during = (work: Promise<void>) => {
    open.add(work);
    work.finally(() => open.delete(work));
  };

  // Docker gives a restarted container another port; asked for once a second, not by each report.
  let asked = 0;
  const moved = async () => {
    if (Date.now() - asked < 1_000) return;
    asked = Date.now();
    port = await stack.port().catch(() => port);
  };

  const report = async () => {
    const id = newId();
    visits.ids.push(id);
    const offer = () => ask(port, "/monitoring", body);
    const body = envelope(kinds[visits.ids.length % kinds.length], id, 1_900);
    for (let answer = await offer(); answer !== 200; answer = await offer()) {
      visits.again[answer] = (visits.again[answer] ?? 0) + 1;
      await pause(500);
      if (typeof answer === "string") await moved();
    }
  };
  const page = async () => {
    visits.pages.seen++;
    const answer = await ask(port, path);
    if (answer !== 200) visits.pages.failed.push(answer);
  };

  const began = Date.now();
  const load = (async () => {
    for (let ticks = 1; !over; ticks++) {
      const due = Math.floor(((Date.now() - began) * rate) / 1_000) - visits.ids.length;
      for (let i = 0; i < due; i++) during(report());
      if (ticks % 5 === 0) during(page());
      await pause(20);
    }
  })();
  const more: More = async (reports) => {
    const enough = visits.ids.length + reports;
    while (visits.ids.length < enough) await pause(20);
  };
  await faults(more).finally(() => {
    over = true;
  });
  await load;
  await Promise.all(open);
  return visits;
}
