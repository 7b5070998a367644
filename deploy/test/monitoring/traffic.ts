// Sends pages, browsers' envelopes and the server's envelopes to the proxy, so many per second, for so many seconds. Failures are what the
// caller wants to see in the metrics. Usage: traffic.ts PAGES ENVELOPES SERVER_ENVELOPES SECONDS
import { request as plain } from "node:http";
import { Agent, type RequestOptions, request as tls } from "node:https";

const [pages = 0, envelopes = 0, serverEnvelopes = 0, seconds = 0] = process.argv.slice(2).map(Number);
const site = {
  host: "proxy",
  port: 8443,
  servername: "localhost",
  headers: { host: "localhost", accept: "text/html" },
};
// Two, so that pages that hang don't hold up envelopes.
const [forPages, forEnvelopes] = [200, 32].map(
  (maxSockets) => new Agent({ keepAlive: true, maxSockets, rejectUnauthorized: false }),
);
const type = { "content-type": "application/x-sentry-envelope" };

/** As SDKs send them: mostly traces, some errors, few replays. */
const types = ["transaction", "event", "transaction", "session", "transaction", "event", "replay_event"];
const envelope = (n: number) => `{}\n{"type":"${types[n % types.length]}"}\n{}\n`;

function send(open: typeof tls, options: RequestOptions, body?: string): void {
  const outgoing = open({ ...options, method: body ? "POST" : "GET", timeout: 10_000 }, (response) =>
    response.resume(),
  );
  outgoing.on("error", () => {}).on("timeout", () => outgoing.destroy());
  outgoing.end(body);
}

/** Calls `one` so many times per second, with its number. What a busy machine missed is not made up for: it would be a burst. */
function every(rate: number, one: (n: number) => void): void {
  let sent = 0;
  if (rate > 0) setInterval(() => one(sent++), 1_000 / rate);
}

every(pages, () => send(tls, { ...site, agent: forPages, path: "/" }));
every(envelopes, (n) =>
  send(tls, { ...site, agent: forEnvelopes, path: "/monitoring", headers: { ...site.headers, ...type } }, envelope(n)),
);
every(serverEnvelopes, (n) =>
  send(plain as typeof tls, { host: "proxy", port: 8083, path: "/envelopes", headers: type }, envelope(n)),
);
setTimeout(() => process.exit(), seconds * 1_000);
