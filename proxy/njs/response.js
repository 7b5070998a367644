// What runs for every response: counters, and the headers of an ingest. Runs inside Nginx (njs), which evaluates this module again for each
// request: about 4,000 instructions, and 700 for each function and export (loadtest/bench/README.md). What few requests need is in modules
// that only their locations import; the counters' keys are built by Nginx (snippets/metrics.conf).

/**
 * Log-phase variable: counts a page or a file. Its value is always "1", so that the access log's `if=` evaluates it.
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function countRequest(r) {
  ngx.shared.metrics.incr(r.variables.request_metric || "", 1);
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
  const counts = ngx.shared.metrics;
  counts.incr(variables.envelope_metric || "", 1);
  counts.incr("bytes", Number(variables.request_length));
  return "1";
}

/**
 * Header filter of the ingest's responses: an ingest that responds is not down. Runs for every envelope: each look-up in `r` or
 * `ngx.shared` costs 1,000 to 2,000 instructions, removing a header 13,000 (loadtest/bench/README.md).
 * @param {NginxHTTPRequest} r
 */
function fromIngest(r) {
  // Rejections by the proxy pass here as well, and say nothing about the ingest.
  const variables = r.variables;
  const key = variables.forwarded_metric;
  if (!key) return;
  // Usually none is left (snippets/ingest-response-headers.conf): this list is without Content-Type and Content-Length.
  if (r.rawHeadersOut.length > 0) removeUnknownHeaders(r);
  const shared = ngx.shared;
  const failed = shared.ingest_failures;
  if (failed.size() > 0) failed.delete(`failed${variables.ingest}`);
  const counts = shared.metrics;
  counts.incr(key, 1);
  counts.incr("bytes", +(variables.request_length || 0));
}

/**
 * Removes every response header that the SDK does not read: an allow-list, which Nginx's own directives cannot express.
 * @param {NginxHTTPRequest} r
 */
function removeUnknownHeaders(r) {
  const allowed = ["content-type", "content-length", "x-sentry-rate-limits", "retry-after"];
  const headers = r.headersOut;
  for (const name in headers) {
    if (!allowed.includes(name.toLowerCase())) delete headers[name];
  }
}

export default { countEnvelope, countRequest, fromIngest, removeUnknownHeaders };
