// Stands between clients and pebble, under the CA's name: answers newOrder as Let's Encrypt does when an account is over a limit, which
// pebble cannot, and forwards everything else unchanged. POST :8056/limit {"times", "retryAfter"} has the next orders limited; GET
// :8056/orders says when each order was requested.
import { readFileSync } from "node:fs";
import { createServer as createControl } from "node:http";
import { Agent, createServer, type RequestOptions, request } from "node:https";

const [cert, key] = [readFileSync("/tls/ca.crt"), readFileSync("/tls/ca.key")];
// One connection for each request: pebble closes idle ones whenever it likes.
const upstream: RequestOptions = {
  host: "127.0.0.1",
  port: 14000,
  ca: cert,
  servername: "ca.test",
  agent: new Agent(),
};
let limit = { times: 0, retryAfter: "" };
const orders: number[] = [];

/** The status and body of https://letsencrypt.org/docs/rate-limits/#new-certificates-per-exact-set-of-identifiers; the text is Boulder's. */
const problem = JSON.stringify({
  type: "urn:ietf:params:acme:error:rateLimited",
  detail:
    "too many certificates (5) already issued for this exact set of identifiers in the last 168h0m0s, retry after 2026-11-23 07:00:00 UTC: see https://letsencrypt.org/docs/rate-limits/#new-certificates-per-exact-set-of-identifiers",
  status: 429,
});

createServer({ cert, key }, (incoming, outgoing) => {
  // pebble's path of newOrder.
  if (incoming.url === "/order-plz") {
    orders.push(Date.now());
    if (limit.times-- > 0) {
      incoming.resume();
      outgoing.writeHead(429, { "Content-Type": "application/problem+json", "Retry-After": limit.retryAfter });
      outgoing.end(problem);
      return;
    }
  }
  const { method, url, headers } = incoming;
  const forwarded = request({ ...upstream, method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  forwarded.on("error", () => outgoing.destroy());
  incoming.pipe(forwarded);
}).listen(443);

createControl(async (incoming, outgoing) => {
  if (incoming.method === "POST") {
    let body = "";
    for await (const part of incoming) body += part;
    limit = JSON.parse(body);
  }
  outgoing.end(JSON.stringify(orders));
}).listen(8056);
