/**
 * Measures how many envelopes a second the spool accepts, each answered after fsync. Runs next to the spool, against SPOOL_URL,
 * and prints one JSON line. CONNECTIONS stands for the proxy's keep-alive connections.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { Agent, request } from "node:http";

const {
  SPOOL_URL = "http://spool:8082",
  SPOOL_DESTINATION = "",
  CONNECTIONS = "64",
  SECONDS = "10",
  BYTES = "2048",
} = process.env;
const agent = new Agent({ keepAlive: true, maxSockets: Number(CONNECTIONS) });
const padding = randomBytes(Number(BYTES)).toString("base64");

function envelope(): Buffer {
  const id = randomUUID().replaceAll("-", "");
  const head = `{"event_id":"${id}","sent_at":"${new Date().toISOString()}"}\n{"type":"event"}\n{"message":"`;
  return Buffer.from(`${head}${padding.slice(0, Number(BYTES) - head.length - 3)}"}\n`);
}

function send(): Promise<number> {
  const body = envelope();
  const headers = { "X-Spool-Destination": SPOOL_DESTINATION, "Content-Length": body.length };
  return new Promise((resolve, reject) => {
    const outgoing = request(SPOOL_URL, { method: "POST", agent, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const latencies: number[] = [];
let rejected = 0;
const began = performance.now();
const end = began + Number(SECONDS) * 1_000;

async function client(): Promise<void> {
  while (performance.now() < end) {
    const start = performance.now();
    const status = await send();
    if (status === 200) latencies.push(performance.now() - start);
    else rejected++;
  }
}

await Promise.all(Array.from({ length: Number(CONNECTIONS) }, client));
const seconds = (performance.now() - began) / 1_000;
latencies.sort((a, b) => a - b);
const quantile = (share: number) => Number(latencies[Math.floor(latencies.length * share)]?.toFixed(2));
console.log(
  JSON.stringify({
    envelopes_per_second: Math.round(latencies.length / seconds),
    ...{ accepted: latencies.length, rejected, p50_ms: quantile(0.5), p99_ms: quantile(0.99) },
    ...{ seconds, bytes: Number(BYTES), connections: Number(CONNECTIONS) },
  }),
);
