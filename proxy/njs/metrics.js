// Shows Prometheus what has been counted (count.js); the counts are shared by all workers. Runs inside Nginx (njs).

import fs from "fs";
import tunnel from "./tunnel.js";

/** Beside the certificate that is served: entrypoint.d/install-certificate.sh. */
const expiryFile = "/tmp/nginx/certificate/expiry";

/** Written at start: a line for each ingest, its number and its host: entrypoint.d/30-ingest.sh. */
const hostsFile = "/tmp/nginx/ingest-hosts";

/** What separates the parts of a sentence; none of them can contain it. */
const separator = "|";

/** The one count that is a sum of bytes instead of a number of sentences: count.js. */
const bytes = "bytes";

/** @type {Record<string, string>} the series that counts a route's reports by how they ended */
const reports = { tunnel: "culvert_tunnel_reports_total", server: "culvert_server_reports_total" };

/** @type {Record<string, string>} */
const help = {
  culvert_requests_total: "Requests answered, by route and status class",
  culvert_tunnel_reports_total: "Reports of browsers, by how they ended and why",
  culvert_server_reports_total: "Reports of web itself, by how they ended and why",
  culvert_tunnel_bytes_total: "Bytes of reports received, of browsers and of web",
  culvert_upstream_failures_total: "Requests with a try that an upstream did not answer, by upstream",
};

/**
 * Whether a try in `$upstream_status` ("502, 200") ended without an answer: Nginx writes 502 and 504 for those.
 * @param {string | undefined} statuses
 * @returns {boolean}
 */
function unanswered(statuses) {
  return /50[24]/.test(statuses || "");
}

/**
 * Adds sentences up to Prometheus' series.
 * @param {NgxKeyValuePair<string | number>[]} counts sentences and how often each was true
 * @returns {Record<string, number>} series, names with labels
 */
function series(counts) {
  /** @type {Record<string, number>} */
  const sums = {};
  const add = (/** @type {string} */ name, /** @type {number} */ by) => {
    if (by > 0) sums[name] = (sums[name] || 0) + by;
  };
  counts.forEach((pair) => {
    const times = Number(pair[1]);
    if (pair[0] === bytes) {
      add("culvert_tunnel_bytes_total", times);
      return;
    }
    const parts = pair[0].split(separator);
    const route = parts[0];
    add(`culvert_requests_total{route="${route}",class="${parts[1][0]}xx"}`, times);
    if (reports[route]) add(`${reports[route]}{outcome="${parts[3]}",reason="${parts[4]}"}`, times);
    if (unanswered(parts[2])) add(`culvert_upstream_failures_total{upstream="${reports[route] ? "ingest" : "web"}"}`, times);
  });
  return sums;
}

/**
 * Which hosts are out: 1, else 0. Several projects may be on one.
 * @param {string} hosts lines of number and host
 * @param {(ingest: string) => boolean} hasFailed
 * @returns {Record<string, number>} series, names with labels
 */
function outages(hosts, hasFailed) {
  /** @type {Record<string, number>} */
  const out = {};
  hosts
    .trim()
    .split("\n")
    .map((line) => line.split(" "))
    .forEach(([number, host]) => {
      const name = `culvert_ingest_out{ingest="${host}"}`;
      out[name] = Math.max(out[name] || 0, hasFailed(number) ? 1 : 0);
    });
  return out;
}

/**
 * Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/
 * @param {Record<string, number>} counters
 * @param {Record<string, number>} gauges
 * @returns {string}
 */
function exposition(counters, gauges) {
  /** @type {string[]} */
  const lines = [];
  Object.keys(help).forEach((name) => {
    lines.push(`# HELP ${name} ${help[name]}`, `# TYPE ${name} counter`);
    const mine = Object.keys(counters).filter((key) => key.split("{")[0] === name);
    mine.forEach((key) => lines.push(`${key} ${counters[key]}`));
  });
  Object.keys(gauges).forEach((name) => {
    const type = `# TYPE ${name.split("{")[0]} gauge`;
    if (!lines.includes(type)) lines.push(type);
    lines.push(`${name} ${gauges[name]}`);
  });
  return `${lines.join("\n")}\n`;
}

/**
 * Answers a scrape.
 * @param {NginxHTTPRequest} r
 */
function show(r) {
  r.headersOut["Content-Type"] = "text/plain; version=0.0.4";
  const gauges = {
    ...outages(fs.readFileSync(hostsFile, "utf8"), tunnel.hasFailed),
    culvert_connections_active: Number(r.variables.connections_active),
    culvert_connections_waiting: Number(r.variables.connections_waiting),
    culvert_certificate_expiry_timestamp_seconds: Number(fs.readFileSync(expiryFile, "utf8")),
  };
  r.return(200, exposition(series(ngx.shared.metrics.items()), gauges));
}

export default { exposition, outages, series, show, unanswered };
