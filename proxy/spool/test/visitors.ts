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
export function ask(proxy: Stack["proxy"], path: string, body?: Buffer, timeout = 30_000): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { ...proxy, path, agent, method: body ? "POST" : "GET", servername: "localhost" };
    const headers = { host: "localhost", ...(body && { "content-type": "text/plain" }) };
    const outgoing = request({ ...options, headers, timeout }, (response) => {
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
  stack: Pick<Stack, "proxy">,
  rate: number,
  faults: (more: More) => Promise<void>,
  path = "/upstream",
): Promise<Visits> {
  const visits: Visits = { ids: [], again: {}, pages: { seen: 0, failed: [] } };
  const { proxy } = stack;
  await until(async () => (await ask(proxy, path)) === 200);
  let over = false;
  const open = new Set<Promise<void>>();
  const during = (work: Promise<void>) => {
    open.add(work);
    work.finally(() => open.delete(work));
  };

  // Thousands who try a proxy that is down would take the processor from its start: one does, for all.
  let back: Promise<void> | undefined;
  const isBack = () => {
    back ??= until(async () => (await ask(proxy, path)) === 200, 120_000).finally(() => {
      back = undefined;
    });
    return back;
  };

  const report = async () => {
    const id = newId();
    visits.ids.push(id);
    let tries = 0;
    const offer = () => ask(proxy, "/monitoring", body);
    const body = envelope(kinds[visits.ids.length % kinds.length], id, 1_900);
    for (let answer = await offer(); answer !== 200; answer = await offer()) {
      visits.again[answer] = (visits.again[answer] ?? 0) + 1;
      if (typeof answer === "string") await isBack();
      await pause(Math.min(4_000, 500 * 2 ** tries++) * Math.random());
    }
  };
  const page = async () => {
    visits.pages.seen++;
    const answer = await ask(proxy, path);
    if (answer !== 200) visits.pages.failed.push(answer);
  };

  const load = (async () => {
    let [last, left] = [Date.now(), 0];
    for (let ticks = 1; !over; ticks++) {
      await pause(20);
      // What a busy machine kept from being sent is not sent in one burst: that would be a flood, which has tests of its own.
      const due = (Math.min(100, Date.now() - last) * rate) / 1_000 + left;
      last = Date.now();
      left = due % 1;
      for (let i = 1; i <= due; i++) during(report());
      if (ticks % 5 === 0) during(page());
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
