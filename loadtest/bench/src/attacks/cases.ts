import type { Part } from "../testbed.ts";

type Settings = NonNullable<Part["settings"]>;

/** One attack: what a row of the table says, what attacker.ts is told, and what differs from the defaults. */
export interface Attack {
  title: string;
  attacker: Settings;
  /** The proxy's. */
  settings?: Settings;
  /** By how much the median time of another client's pages may grow; default 1,200. */
  maxCostMs?: number;
  /** Whether proxy and spool have an ingest that refuses every connection. */
  ingestDown?: boolean;
}

const unread = { ATTACK: "unread", TARGET: "/", CONNECTIONS: "364", STREAMS: "8" };
const flood = { ATTACK: "flood", TARGET: "/", CONNECTIONS: "8", STREAMS: "100" };

/** A number of requests of one client that suits an app which is not behind large offices. */
const fifty = { MAX_CONCURRENT_REQUESTS_PER_CLIENT: "50" };

/** The attack of the row above, against a proxy with these settings. */
const sameWith = (attacker: Settings, settings: Settings, what = "the same"): Attack => ({
  title: `${what}, with ${Object.entries(settings)
    .map(([name, value]) => `\`${name}=${value}\``)
    .join(" and ")}`,
  attacker,
  settings,
  ...(settings === fifty && { maxCostMs: 300 }),
});

/** The attacks by their names; FILE stands for the path of one of web's hashed files. */
export const attacks: Record<string, Attack> = {
  files: {
    title: "a hashed file, 110 connections × 128 streams, nothing is read",
    attacker: { ATTACK: "unread", TARGET: "FILE", CONNECTIONS: "110", STREAMS: "128" },
  },
  pages: { title: "a page, 364 connections × 8 streams, nothing is read", attacker: unread },
  "pages-fifty": sameWith(unread, fifty),
  bodies: {
    title: "2,000 small bodies, one byte every 3 s",
    attacker: { ATTACK: "slow-body", TARGET: "/api/x", CONNECTIONS: "2000" },
  },
  forms: {
    title: "150 bodies of 900 KB, the last bytes one every 3 s",
    attacker: { ATTACK: "slow-body", TARGET: "/api/x", CONNECTIONS: "150", SIZE: "900000" },
  },
  uploads: {
    title: "30 bodies of 10 MB, the last bytes one every 3 s",
    attacker: { ATTACK: "slow-body", TARGET: "/api/x", CONNECTIONS: "30", SIZE: "10000000" },
  },
  headers: {
    title: "3,000 connections, one byte of a header every 3 s",
    attacker: { ATTACK: "slow-header", CONNECTIONS: "3000" },
  },
  bombs: {
    title: "4 envelopes at a time that decompress to 90 MB, while the ingest is down",
    attacker: { ATTACK: "bombs", TARGET: "/monitoring", CONNECTIONS: "4" },
    ingestDown: true,
  },
  flood: { title: "as many pages as 8 connections × 100 streams get", attacker: flood },
  "flood-unmarked": {
    title: "the same, by requests that do not say that they are for pages",
    attacker: { ...flood, ACCEPT: "*/*" },
  },
  "flood-prefetch": {
    title: "the same, by requests that claim to be prefetches",
    attacker: { ...flood, PURPOSE: "prefetch" },
  },
  "flood-posts": { title: "the same, by forms", attacker: { ...flood, METHOD: "POST" } },
  "flood-missing": {
    title: "the same, of files that do not exist",
    attacker: { ...flood, TARGET: "/_next/static/missing-*.js" },
  },
  "flood-fifty": sameWith(flood, fifty, "pages"),
  "flood-posts-fifty": sameWith({ ...flood, METHOD: "POST" }, fifty, "forms"),
  "flood-off": sameWith(flood, { MAX_CONCURRENT_REQUESTS_PER_CLIENT: "off" }, "pages"),
  "flood-per-replica": sameWith(flood, { MAX_CONCURRENT_PAGES_PER_REPLICA: "30" }, "pages"),
  envelopes: {
    title: "150 envelopes of 999,999 bytes, the last bytes one every 3 s",
    attacker: { ATTACK: "slow-body", TARGET: "/monitoring", CONNECTIONS: "150", SIZE: "998999" },
  },
  office: {
    title: "no attack: 200 browsers behind one address, 10 pages per second with 5 prefetches and 2 API calls each",
    attacker: { ATTACK: "office", TARGET: "/", CONNECTIONS: "200" },
  },
};
