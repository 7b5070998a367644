// Answers scrapes by Prometheus from the counters of response.js, which all workers share. Runs inside Nginx (njs).

import fs from "fs";
import ingestResponse from "./ingest-response.js";
import pageGauges from "./page-gauges.js";
import workers from "./workers.js";

/** Beside the certificate that is served: entrypoint.d/install-certificate.sh. */
const certificate = "/tmp/nginx/certificate";

/** A line for each ingest, its number and its host, written at start: entrypoint.d/30-ingest.sh. */
const hostsFile = "/tmp/nginx/ingest-hosts";

/** Separates the parts of a key; none of them can contain it. */
const separator = "|";

/** What follows the route in the key of an accepted envelope, which is the route alone (snippets/metrics.conf). */
const accepted = '|200|200|"accepted","reason":""';

/** The one key that sums bytes instead of counting, and half a byte: response.js, ingest-response.js. */
const bytes = "bytes";

/** @type {Record<string, string>} the series that counts a route's envelopes by outcome */
const envelopes = { tunnel: "culvert_tunnel_envelopes_total", server: "culvert_server_envelopes_total" };

/** @type {Record<string, string>} the outcome of a page by the reason why the proxy answered itself (snippets/error-pages.conf) */
const pageOutcomes = {
  "": "accepted",
  rate_limit: "rate_limited",
  overload: "rejected",
  size: "rejected",
};

/** @type {Record<string, string>} */
const help = {
  culvert_requests_total: "Requests answered, by route and status class",
  culvert_pages_total:
    "Pages and prefetches with OPEN_PAGES_PER_REPLICA, by outcome: accepted, shed, rejected, rate_limited, or failed because web did not answer",
  culvert_tunnel_envelopes_total: "Envelopes of browsers, by outcome and reason",
  culvert_server_envelopes_total: "Envelopes of web itself, by outcome and reason",
  culvert_tunnel_bytes_total: "Bytes of envelopes received, of browsers and of web",
  culvert_upstream_failures_total: "Requests with an attempt that an upstream did not answer, by upstream",
  culvert_worker_deaths_total: "Nginx workers that were killed, such as for lack of memory",
};

/**
 * Whether an attempt in `$upstream_status` ("502, 200") ended without an answer: Nginx writes 502 and 504 for those.
 * @param {string | undefined} statuses
 * @returns {boolean}
 */
function unanswered(statuses) {
  return /50[24]/.test(statuses || "");
}

/**
 * Sums counters up to Prometheus series.
 * @param {NgxKeyValuePair<string | number>[]} counts keys (snippets/metrics.conf) and counts
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
      add("culvert_tunnel_bytes_total", Math.floor(times));
      return;
    }
    const parts = (envelopes[pair[0]] ? pair[0] + accepted : pair[0]).split(separator);
    const route = parts[0];
    add(`culvert_requests_total{route="${route}",class="${parts[1][0]}xx"}`, times);
    const shed = !envelopes[route] && parts[5] === "shed";
    if (route === "page" && parts[3]) {
      const outcome = shed ? "shed" : pageOutcomes[parts[4] || ""] || "failed";
      add(`culvert_pages_total{kind="${parts[3]}",outcome="${outcome}"}`, times);
    }
    if (envelopes[route]) {
      const result = JSON.parse(`{"outcome":${parts[3]}}`);
      add(`${envelopes[route]}{outcome="${result.outcome}",reason="${result.reason}"}`, times);
    }
    // Nginx writes 502 as well if no replica may be asked.
    if (!shed && unanswered(parts[2]))
      add(`culvert_upstream_failures_total{upstream="${envelopes[route] ? "ingest" : "web"}"}`, times);
  });
  return sums;
}

/**
 * 1 for each host that is down, else 0. Several projects may share one.
 * @param {string} hosts lines of number and host
 * @param {(ingest: string) => boolean} isDown
 * @returns {Record<string, number>} series, names with labels
 */
function ingestsDown(hosts, isDown) {
  /** @type {Record<string, number>} */
  const down = {};
  hosts
    .trim()
    .split("\n")
    .map((line) => line.split(" "))
    .forEach(([number, host]) => {
      const name = `culvert_ingest_down{ingest="${host}"}`;
      down[name] = Math.max(down[name] || 0, isDown(number) ? 1 : 0);
    });
  return down;
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
    const series = Object.keys(counters).filter((key) => key.split("{")[0] === name);
    series.forEach((key) => lines.push(`${key} ${counters[key]}`));
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
    ...ingestsDown(fs.readFileSync(hostsFile, "utf8"), ingestResponse.isDown),
    culvert_connections_active: workers.connections(),
    culvert_pages_open: pageGauges.open(),
    culvert_clients_limited: pageGauges.clientsLimited(),
    culvert_certificate_not_before_timestamp_seconds: Number(fs.readFileSync(`${certificate}/not-before`, "utf8")),
    culvert_certificate_expiry_timestamp_seconds: Number(fs.readFileSync(`${certificate}/expiry`, "utf8")),
  };
  const counters = { ...series(ngx.shared.metrics.items()), culvert_worker_deaths_total: workers.deaths() };
  r.return(200, exposition(counters, gauges));
}

export default { exposition, ingestsDown, series, show, unanswered };
