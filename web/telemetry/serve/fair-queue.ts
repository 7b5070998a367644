import { AsyncResource } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { RequestListener, Server, ServerResponse } from "node:http";
import { isFirstCall } from "../once.js";

/** Turns of the event loop that only accept connections and requests, before one request begins. */
const ARRIVAL_TURNS = 100;
/** If the oldest request has waited that long, the newest begins first: its visitor is still there. */
const LATE_MS = 1_000;

type Waiting = { since: number; response: ServerResponse; begin: () => void };
type Client = { site: string; requests: Waiting[] };

/**
 * Begins one request in each turn of the event loop, each client's in turn, so that a client's flood delays that client. Node itself begins all
 * requests that have arrived, and accepts one connection meanwhile. A request begins at once if it did not come through the proxy.
 */
export function queueFairly(): void {
  if (!isFirstCall("fair-queue")) return;
  const servers = new WeakSet<Server>();
  const clients: Client[] = [];
  let [isScheduled, hasArrivals, arrivalTurns] = [false, false, 0];
  const schedule = () => {
    if (!isScheduled) setImmediate(turn);
    isScheduled = true;
  };
  const turn = () => {
    const isArriving = hasArrivals && ++arrivalTurns < ARRIVAL_TURNS;
    [isScheduled, hasArrivals] = [false, false];
    if (!isArriving) arrivalTurns = 0;
    const next = isArriving ? undefined : take(clients);
    if (clients.length) schedule();
    next?.begin();
  };
  const enter = (address: string, response: ServerResponse, begin: () => void) => {
    hasArrivals = true;
    schedule();
    const site = siteOf(address);
    const client = clients.find((candidate) => candidate.site === site) ?? { site, requests: [] };
    if (!client.requests.length) clients.push(client);
    client.requests.push({ since: Date.now(), response, begin: AsyncResource.bind(begin) });
  };
  subscribe("http.server.request.start", (message) => {
    const { server } = message as { server: Server };
    if (servers.has(server)) return;
    servers.add(server);
    // As Socket.IO takes the place of a server's listeners.
    const listeners = server.listeners("request") as RequestListener[];
    server.removeAllListeners("request");
    server.on("connection", () => {
      hasArrivals = true;
    });
    server.on("request", (request, response) => {
      const begin = () => listeners.forEach((listener) => void listener.call(server, request, response));
      const address = request.headers["x-forwarded-for"];
      address ? enter(String(address), response, begin) : begin();
    });
  });
}

/** As in the proxy's limits: an IPv4 address, or the /48 of an IPv6 address whose zeros may be folded. */
function siteOf(address: string): string {
  if (address.includes(".")) return address;
  const zeros = "0:".repeat(Math.max(0, 9 - address.split(":").length));
  return address.replace("::", `:${zeros}`).split(":", 3).join(":");
}

/** Takes the next request whose client is still there. The client that it was taken from, if it has more, is the last in turn. */
function take(clients: Client[]): Waiting | undefined {
  const isLate = Date.now() - (clients[0]?.requests[0]?.since ?? Number.POSITIVE_INFINITY) > LATE_MS;
  while (clients.length) {
    const client = (isLate ? clients.pop() : clients.shift()) as Client;
    client.requests = client.requests.filter(({ response }) => !response.destroyed);
    const next = isLate ? client.requests.pop() : client.requests.shift();
    if (client.requests.length) isLate ? clients.unshift(client) : clients.push(client);
    if (next) return next;
  }
  return undefined;
}
