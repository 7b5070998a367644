// Answers scrapes by Prometheus from the counters of log.js, which all workers share.

import fs from "fs";

/** Beside the certificate that is served: entrypoint.d/install-certificate.sh. */
const certificate = "/tmp/nginx/certificate";

/** @type {Record<string, string>} */
const help = {
  culvert_requests_total: "Requests answered, by route and status class",
  culvert_deployment_requests_total:
    "Requests of open pages that name their deployment, by the release that they belong to: current, previous, or gone",
  culvert_tunnel_envelopes_total: "Envelopes of browsers, by outcome and reason",
  culvert_server_envelopes_total: "Envelopes of web itself, by outcome and reason",
  culvert_tunnel_bytes_total: "Bytes of envelopes received, of browsers and of web",
  culvert_upstream_failures_total: "Requests with an attempt that an upstream did not answer, by upstream",
  culvert_page_duration_seconds: "How long web took to begin its response to a page",
};

/**
 * Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/
 * @type {(counters: NgxKeyValuePair<string | number>[], gauges: Record<string, number>) => string}
 */
const exposition = (counters, gauges) => {
  /** @type {string[]} */
  const lines = [];
  Object.keys(help).forEach((name) => {
    const series = counters.filter((counter) => counter[0].split("{")[0].replace(/_(bucket|sum|count)$/, "") === name);
    if (series.length === 0) return;
    lines.push(`# HELP ${name} ${help[name]}`, `# TYPE ${name} ${name.endsWith("_total") ? "counter" : "histogram"}`);
    series.forEach((counter) => lines.push(`${counter[0]} ${counter[1]}`));
  });
  Object.keys(gauges).forEach((name) => lines.push(`# TYPE ${name} gauge`, `${name} ${gauges[name]}`));
  return `${lines.join("\n")}\n`;
};

/** How often deploy/acme has failed since the last certificate. Without a failure there is no such file. */
function renewalFailures() {
  try {
    return Number(fs.readFileSync("/srv/certificates/failures", "utf8"));
  } catch (_) {
    return 0;
  }
}

/** @type {(r: NginxHTTPRequest) => void} */
const show = (r) => {
  r.headersOut["Content-Type"] = "text/plain; version=0.0.4";
  const gauges = {
    culvert_certificate_rejected: Number(fs.readFileSync(`${certificate}-rejected`, "utf8")),
    culvert_certificate_renewal_failures: renewalFailures(),
    culvert_connections_active: Number(r.variables.connections_active),
    culvert_certificate_not_before_timestamp_seconds: Number(fs.readFileSync(`${certificate}/not-before`, "utf8")),
    culvert_certificate_expiry_timestamp_seconds: Number(fs.readFileSync(`${certificate}/expiry`, "utf8")),
    culvert_start_timestamp_seconds: Math.floor(fs.statSync("/tmp/nginx.pid").mtimeMs / 1000),
  };
  r.return(200, exposition(ngx.shared.metrics.items(), gauges));
};

export default { show };
