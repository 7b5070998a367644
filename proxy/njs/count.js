// Counts what happened. Runs inside Nginx (njs) on every request, so it does one thing only: it counts the sentence that Nginx has
// built about the request (snippets/metrics.conf). What the sentences add up to is worked out when Prometheus asks: metrics.js.

/**
 * Log-phase variable: counts a page or a file. Its value is always "1", so that the access log's `if=` can evaluate it.
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function count(r) {
  ngx.shared.metrics.incr(r.variables.request_sentence || "", 1, 0);
  return "1";
}

/**
 * The same for a report. Called by the filter of an upstream's answer, where njs is at work anyway; for what the edge answered itself
 * by the log (snippets/metrics.conf).
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function countReport(r) {
  ngx.shared.metrics.incr(r.variables.report_sentence || "", 1, 0);
  ngx.shared.metrics.incr("bytes", Number(r.variables.request_length), 0);
  return "1";
}

export default { count, countReport };
