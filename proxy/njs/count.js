// Counts requests and envelopes. Runs inside Nginx (njs) on every request, so it only increments counters whose keys Nginx has
// built (snippets/metrics.conf); metrics.js turns the keys into series when Prometheus asks.

/**
 * Log-phase variable: counts a page or a file. Its value is always "1", so that the access log's `if=` evaluates it.
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function countRequest(r) {
  ngx.shared.metrics.incr(r.variables.request_metric || "", 1, 0);
  return "1";
}

/**
 * The same for an envelope. Called by the header filter of an upstream's response, where njs runs anyway; for what the proxy answers
 * itself by the access log (snippets/metrics.conf).
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function countEnvelope(r) {
  addEnvelope(r.variables.envelope_metric || "", r);
  return "1";
}

/**
 * @param {string} key
 * @param {NginxHTTPRequest} r
 */
function addEnvelope(key, r) {
  const metrics = ngx.shared.metrics;
  metrics.incr(key, 1, 0);
  metrics.incr("bytes", Number(r.variables.request_length), 0);
}

export default { addEnvelope, countEnvelope, countRequest };
