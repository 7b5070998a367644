import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { envelope, newId } from "../../../proxy/spool/test/support/envelopes.ts";

/** A tunnel, and whether its browsers queue envelopes that were not accepted and retry them, as web's do (web/src/telemetry). */
export interface Tunnel {
  origin: string;
  path: string;
  retries: boolean;
}

/** The envelopes that browsers sent to a tunnel. */
export interface Sent {
  ids: string[];
  /** The number of retries. */
  retried: number;
}

const agents = {
  "http:": { request: httpRequest, agent: new HttpAgent({ keepAlive: true }) },
  "https:": { request: httpsRequest, agent: new HttpsAgent({ keepAlive: true, rejectUnauthorized: false }) },
};
const kinds = ["event", "event", "transaction", "session", "replay_event"];

/** Posts an envelope; resolves with the status, 0 without a response. */
function post({ origin, path }: Tunnel, body: Buffer): Promise<number> {
  const { request, agent } = agents[new URL(origin).protocol as keyof typeof agents];
  const headers = { host: "localhost", "content-type": "text/plain", "content-length": body.length };
  return new Promise((resolve) => {
    const outgoing = request(`${origin}${path}`, { method: "POST", agent, headers, timeout: 60_000 }, (response) => {
      response.resume().on("error", () => resolve(0));
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    outgoing.on("timeout", () => outgoing.destroy()).on("error", () => resolve(0));
    outgoing.end(body);
  });
}

/** Sends `rate` envelopes per second to each tunnel until `over` resolves; resolves when all have been sent or given up. */
export async function send(tunnels: Tunnel[], rate: number, over: Promise<unknown>): Promise<Sent[]> {
  const open = new Set<Promise<void>>();
  const sents = tunnels.map((): Sent => ({ ids: [], retried: 0 }));
  const sendOne = async (tunnel: Tunnel, sent: Sent) => {
    const id = newId();
    const body = envelope(kinds[sent.ids.length % kinds.length], id, 1_900);
    sent.ids.push(id);
    for (let wait = 500; ; wait = Math.min(4_000, wait * 2)) {
      const status = await post(tunnel, body);
      if (!tunnel.retries || ![0, 502, 503, 504].includes(status)) return;
      sent.retried++;
      await pause(wait);
    }
  };
  let done = false;
  over.finally(() => {
    done = true;
  });
  for (let last = Date.now(), due = 0; !done; ) {
    await pause(20);
    // After a delay on a busy machine, the missed envelopes are not sent in one burst.
    due += (Math.min(200, Date.now() - last) * rate) / 1_000;
    last = Date.now();
    for (; due >= 1; due--) {
      tunnels.forEach((tunnel, i) => {
        const work = sendOne(tunnel, sents[i] as Sent);
        open.add(work);
        work.finally(() => open.delete(work));
      });
    }
  }
  await over;
  await Promise.all(open);
  return sents;
}
