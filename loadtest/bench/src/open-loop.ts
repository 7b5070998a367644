/**
 * Requests one page at a constant rate, whether or not earlier requests have been answered, as visitors do. wrk and h2load send on a fixed
 * number of connections and slow down with the server. Runs in the load's container without dependencies: PAGE, RATE (per second), SECONDS;
 * BODY is a file to post instead, with the headers of HEADERS (JSON); with TIMEOUT_S, each request has a connection of its own and that long.
 * CONNECTIONS are opened before, each with a request that is not reported. Waits for all answers and prints one line of JSON.
 */
import { readFileSync } from "node:fs";
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";

const {
  PAGE = "",
  RATE = "1",
  SECONDS = "1",
  BODY = "",
  HEADERS = "{}",
  TIMEOUT_S = "",
  CONNECTIONS = "0",
} = process.env;
const tls = PAGE.startsWith("https:");
// A browser gives up a connection before Node, which closes it after 5 s. In turn, so that none of CONNECTIONS is idle for as long.
const options = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: 4_000, scheduling: "fifo" as const };
const keepAlive = tls ? new HttpsAgent({ ...options, rejectUnauthorized: false }) : new HttpAgent(options);
const headers = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "accept-encoding": "gzip, deflate, br, zstd",
  "sec-fetch-mode": "navigate",
  ...JSON.parse(HEADERS),
};
const body = BODY ? readFileSync(BODY) : undefined;
const method = body ? "POST" : "GET";

/** Resolves with the status when the whole answer is there; with -1 for a broken connection. */
function visit(): Promise<number> {
  return new Promise((resolve) => {
    const signal = TIMEOUT_S ? AbortSignal.timeout(Number(TIMEOUT_S) * 1_000) : undefined;
    const agent = TIMEOUT_S ? false : keepAlive;
    const given = { agent, headers, method, signal, rejectUnauthorized: false };
    const outgoing = (tls ? requestHttps : requestHttp)(PAGE, given, (response) => {
      response.on("error", () => resolve(-1));
      response.resume().on("end", () => resolve(response.statusCode ?? -1));
    });
    // The agent's limit is for idle connections.
    outgoing.setTimeout(0);
    outgoing.on("error", () => resolve(-1));
    outgoing.end(body);
  });
}

await Promise.all(Array.from({ length: Number(CONNECTIONS) }, visit));
const interval = 1_000 / Number(RATE);
const requests = Math.round(Number(RATE) * Number(SECONDS));
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
