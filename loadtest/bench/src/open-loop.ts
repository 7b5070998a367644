/**
 * Requests one page at a constant rate, whether or not earlier requests have been answered, as visitors do: wrk and h2load slow down with
 * the server. Its argument is a Plan as JSON. Waits for all answers and prints one line of JSON.
 */
import { readFileSync } from "node:fs";
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";

/** What is requested, and how often per second. */
export interface Plan {
  url: string;
  rate: number;
  seconds: number;
  /** A file to post. */
  body?: string;
  headers?: Record<string, string>;
  /** Each request has a connection of its own, and so long. */
  timeoutSeconds?: number;
  /** To open before, 256 at most, each with a request that is not reported. */
  connections?: number;
}

const plan: Plan = JSON.parse(process.argv[2] ?? "");
const tls = plan.url.startsWith("https:");
// A browser gives up a connection before Node, which closes it after 5 s. In turn, so that no connection is idle for as long.
const options = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: 4_000, scheduling: "fifo" as const };
const keepAlive = tls ? new HttpsAgent({ ...options, rejectUnauthorized: false }) : new HttpAgent(options);
const headers = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "accept-encoding": "gzip, deflate, br, zstd",
  "sec-fetch-mode": "navigate",
  ...plan.headers,
};
const body = plan.body ? readFileSync(plan.body) : undefined;
const method = body ? "POST" : "GET";

/** Resolves with the status when the whole answer is there; with -1 for a broken connection. */
function visit(): Promise<number> {
  return new Promise((resolve) => {
    const signal = plan.timeoutSeconds ? AbortSignal.timeout(plan.timeoutSeconds * 1_000) : undefined;
    const agent = plan.timeoutSeconds ? false : keepAlive;
    const given = { agent, headers, method, signal, rejectUnauthorized: false };
    const outgoing = (tls ? requestHttps : requestHttp)(plan.url, given, (response) => {
      response.on("error", () => resolve(-1));
      response.resume().on("end", () => resolve(response.statusCode ?? -1));
    });
    // The agent's limit is for idle connections.
    outgoing.setTimeout(0);
    outgoing.on("error", () => resolve(-1));
    outgoing.end(body);
  });
}

await Promise.all(Array.from({ length: plan.connections ?? 0 }, visit));
const interval = 1_000 / plan.rate;
const requests = Math.round(plan.rate * plan.seconds);
const began = performance.now();
const visits: Promise<[status: number, milliseconds: number]>[] = [];
await new Promise<void>((done) => {
  const send = () => {
    while (visits.length < requests && began + visits.length * interval <= performance.now()) {
      // From when it was due: a generator that is late must not hide what it waited for.
      const due = began + visits.length * interval;
      visits.push(visit().then((status) => [status, Math.round(performance.now() - due)]));
    }
    if (visits.length < requests) setTimeout(send, began + visits.length * interval - performance.now());
    else done();
  };
  send();
});
console.log(JSON.stringify(await Promise.all(visits)));
// Not process.exit: what a pipe has not taken yet would be lost.
keepAlive.destroy();
