import { openLoop, type Probe, parseProbe } from "../load.ts";
import type { Testbed } from "../testbed.ts";

/** Longer than anybody waits. */
const TIMEOUT_S = 20;

/** What one honest client requests in a phase, each on a new connection. */
export type Honest = Record<"page" | "file" | "form" | "envelope", Probe>;

const kinds = {
  page: { rate: 10, expected: 200 },
  file: { rate: 5, expected: 200 },
  // An address that web has not: the answer is web's own.
  form: { rate: 2, expected: 404, body: "/tmp/form", headers: { "content-type": "application/octet-stream" } },
  envelope: {
    ...{ rate: 5, expected: 200, body: "/tmp/envelope.gz" },
    headers: { "content-type": "text/plain;charset=UTF-8", "content-encoding": "gzip" },
  },
};

/** Writes the bodies into the container that sends them. */
export async function prepare(testbed: Testbed): Promise<void> {
  const bodies = "head -c 20000 /dev/zero >/tmp/form; gzip -c /run-data/envelope >/tmp/envelope.gz";
  await testbed.exec("load", "sh", "-c", bodies);
}

/** Requests pages, a hashed file, forms of 20 KB and compressed envelopes at constant rates. */
export async function probe(testbed: Testbed, origin: string, file: string, seconds: number): Promise<Honest> {
  const paths = { page: "/", file, form: "/api/x", envelope: "/monitoring" };
  const probes = Object.entries(kinds).map(async ([kind, { rate, expected, ...more }]) => {
    const url = `${origin}${paths[kind as keyof Honest]}`;
    const output = await testbed.exec("load", ...openLoop(url, rate, seconds, { ...more, timeoutSeconds: TIMEOUT_S }));
    return [kind, parseProbe(output, expected)];
  });
  return Object.fromEntries(await Promise.all(probes)) as Honest;
}
