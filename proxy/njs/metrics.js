// Counts what happened and shows it to Prometheus. Runs inside Nginx (njs); the counts are shared by all workers.

/** @type {Record<string, string>} */
const help = {
  culvert_requests_total: "Requests answered, by route and status class",
  culvert_tunnel_reports_total: "Reports of browsers, by how they ended and why",
  culvert_tunnel_bytes_total: "Bytes of reports received",
  culvert_upstream_failures_total: "Tries that an upstream did not answer, by upstream",
};

/**
 * @param {string} series a metric's name with its labels
 * @param {number} by
 */
function add(series, by) {
  ngx.shared.metrics.incr(series, by, 0);
}

/**
 * Counts a finished request of a route towards an upstream.
 * @param {NginxHTTPRequest} r
 * @param {string | undefined} route
 * @param {string} upstream
 */
function countRequest(r, route, upstream) {
  add(`culvert_requests_total{route="${route}",class="${String(r.variables.status)[0]}xx"}`, 1);
  const failures = unanswered(r.variables.upstream_status);
  if (failures > 0) add(`culvert_upstream_failures_total{upstream="${upstream}"}`, failures);
}

/**
 * Log-phase variable: counts a page or a file. Its value is always "1", so that the access log's `if=` can evaluate it.
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function count(r) {
  countRequest(r, r.variables.route, "web");
  return "1";
}

/**
 * The same for a report. A variable of its own, because a body that is too large ends before $route could be set.
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function countReport(r) {
  const v = r.variables;
  countRequest(r, "tunnel", "ingest");
  add(`culvert_tunnel_reports_total{outcome="${v.tunnel_outcome}",reason="${v.tunnel_reason}"}`, 1);
  add("culvert_tunnel_bytes_total", Number(v.request_length));
  return "1";
}

/**
 * How many of the tries in `$upstream_status` ("502, 200") ended without an answer: Nginx writes 502 and 504 for those.
 * @param {string | undefined} statuses
 * @returns {number}
 */
function unanswered(statuses) {
  return (statuses || "").split(/[,: ]+/).filter((status) => status === "502" || status === "504").length;
}

/**
 * Prometheus' text format of the counts: https://prometheus.io/docs/instrumenting/exposition_formats/
 * @param {NgxKeyValuePair<string | number>[]} series names with labels, and values
 * @param {Record<string, number>} gauges
 * @returns {string}
 */
function exposition(series, gauges) {
  const lines = [];
  for (const name in help) {
    lines.push(`# HELP ${name} ${help[name]}`, `# TYPE ${name} counter`);
    series.filter((item) => item[0].split("{")[0] === name).forEach((item) => lines.push(`${item[0]} ${item[1]}`));
  }
  for (const name in gauges) lines.push(`# TYPE ${name} gauge`, `${name} ${gauges[name]}`);
  return `${lines.join("\n")}\n`;
}

/**
 * Answers a scrape.
 * @param {NginxHTTPRequest} r
 */
function show(r) {
  r.headersOut["Content-Type"] = "text/plain; version=0.0.4";
  const v = r.variables;
  r.return(
    200,
    exposition(ngx.shared.metrics.items(), {
      culvert_connections_active: Number(v.connections_active),
      culvert_connections_waiting: Number(v.connections_waiting),
    }),
  );
}

export default { count, countReport, exposition, show, unanswered };
