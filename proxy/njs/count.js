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
  const variables = r.variables;
  addEnvelope(variables.envelope_metric || "", variables);
  return "1";
}

/**
 * @param {string} key of snippets/metrics.conf
 * @param {NginxVariables} variables of the request: each `r.variables` would make another object
 */
function addEnvelope(key, variables) {
  const counts = ngx.shared.metrics;
  counts.incr(key, 1, 0);
  counts.incr("bytes", Number(variables.request_length), 0);
}

export default { addEnvelope, countEnvelope, countRequest };
