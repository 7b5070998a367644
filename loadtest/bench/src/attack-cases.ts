/** One attack: what a row of the table says, what attacker.ts is told, and what differs from the defaults. */
export interface Attack {
  title: string;
  attacker: Record<string, string>;
  /** The proxy's. */
  settings?: Record<string, string>;
}

const slowBody = (target: string, connections: number, size: number) => ({
  ...{ ATTACK: "slow-body", TARGET: target, CONNECTIONS: String(connections), SIZE: String(size) },
});
const unread = (target: string, connections: number, streams: number) => ({
  ...{ ATTACK: "unread", TARGET: target, CONNECTIONS: String(connections), STREAMS: String(streams) },
});
const flood = { ATTACK: "flood", TARGET: "/", CONNECTIONS: "8", STREAMS: "100" };
/** The flood of pages with a client for each connection, or other options. */
const floodOf = (title: string, more: Record<string, string>): Attack => ({
  ...{ title, attacker: { ...flood, ...more } },
  ...(more.CLIENT && { settings: { TRUSTED_PROXIES: "0.0.0.0/0" } }),
});
/** The flood of pages against a proxy with this setting. */
const floodWith = (name: string, value: string): Attack => ({
  ...{ title: `pages, with \`${name}=${value}\``, attacker: flood, settings: { [name]: value } },
});

/** An ingest that refuses every connection, so that the spool queues all envelopes. */
const noIngest = { SENTRY_DSN: "http://key@127.0.0.1:9/1" };

/** The attacks; FILE stands for the path of one of web's hashed files. */
export const attackCases: Attack[] = [
  { title: "a hashed file, 110 × 128 streams, nothing is read", attacker: unread("FILE", 110, 128) },
  { title: "a page, 364 × 8 streams, nothing is read", attacker: unread("/", 364, 8) },
  { title: "2,000 small bodies, one byte every 3 s", attacker: slowBody("/api/x", 2_000, 0) },
  { title: "150 bodies of 900 KB, last bytes one every 3 s", attacker: slowBody("/api/x", 150, 900_000) },
  { title: "30 bodies of 10 MB, last bytes one every 3 s", attacker: slowBody("/api/x", 30, 10_000_000) },
  { title: "150 envelopes of 1 MB, likewise", attacker: slowBody("/monitoring", 150, 998_999) },
  {
    title: "3,000 connections, a header's byte every 3 s",
    attacker: { ATTACK: "slow-header", CONNECTIONS: "3000" },
  },
  {
    title: "4 envelopes that decompress to 90 MB, ingest down",
    attacker: { ATTACK: "bombs", TARGET: "/monitoring", CONNECTIONS: "4" },
    settings: noIngest,
  },
  { title: "8 × 100 pages at once", attacker: flood },
  { title: "likewise, without the headers of pages", attacker: { ...flood, ACCEPT: "*/*" } },
  { title: "likewise, as prefetches", attacker: { ...flood, PURPOSE: "prefetch" } },
  { title: "likewise, of files that are missing", attacker: { ...flood, TARGET: "/_next/static/chunks/missing.js" } },
  { title: "likewise, as forms", attacker: { ...flood, METHOD: "POST" } },
  floodOf("8 × 100 pages at once, of eight /64s in one /48", { CLIENT: "2001:db8:1:N::1" }),
  floodOf("8 × 100 pages at once, of eight clients", { CLIENT: "203.0.113.N" }),
  floodOf("8 × 10 pages at once, aborted after 0.1 s", { STREAMS: "10", ABORT_MS: "100" }),
  floodWith("MAX_CONCURRENT_REQUESTS_PER_CLIENT", "50"),
  floodWith("MAX_CONCURRENT_REQUESTS_PER_CLIENT", "off"),
];
