// What runs for every response: counters, and the headers of an ingest. Runs inside Nginx (njs), which evaluates this module again for each
// request: about 4,000 instructions, and 1,900 for each function (loadtest/bench/README.md). So there are two, and what few requests need is in
// modules that only their locations import; the counters' keys are built by Nginx (snippets/metrics.conf).

/**
 * Log-phase variable: counts what no header filter has counted, that is pages, files, and envelopes that the proxy answers itself. Its
 * value is always "1", so that the access log's `if=` evaluates it.
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function count(r) {
  const variables = r.variables;
  const counts = ngx.shared.metrics;
  counts.incr(variables.local_metric || "", 1);
  if (variables.local_envelope) counts.incr("bytes", Number(variables.request_length));
  return "1";
}

/**
 * Header filter of an upstream's response to an envelope: counts it, and removes every header that the SDK does not read, by an allow-list,
 * which Nginx's own directives cannot express. Runs for every envelope: each look-up in `r` or `ngx.shared` costs 1,000 to 2,000
 * instructions, removing a header 13,000.
 * @param {NginxHTTPRequest} r
 * @param {boolean} [isFallback] another than the ingest answered: njs/ingest-response.js
 */
function forwarded(r, isFallback) {
  // Rejections by the proxy pass here as well, and are counted by the access log.
  const variables = r.variables;
  const key = variables.forwarded_metric;
  if (!key) return;
  // Usually none is left (snippets/ingest-response-headers.conf): this list is without Content-Type and Content-Length.
  if (r.rawHeadersOut.length > 0) {
    const allowed = ["content-type", "content-length", "x-sentry-rate-limits", "retry-after"];
    const headers = r.headersOut;
    for (const name in headers) {
      if (!allowed.includes(name.toLowerCase())) delete headers[name];
    }
  }
  const counts = ngx.shared.metrics;
  counts.incr(key, 1);
  // An ingest that responds is not down. The half byte tells that there is a failure to forget (njs/ingest-response.js).
  if (counts.incr("bytes", +(variables.request_length || 0)) % 1 && !isFallback) {
    const failed = ngx.shared.ingest_failures;
    if (failed.delete("noted")) counts.incr("bytes", -0.5);
    failed.delete(`failed${variables.ingest}`);
    // Another ingest's, or one that another worker noted meanwhile.
    if (failed.size() > 0 && failed.add("noted", 1)) counts.incr("bytes", 0.5);
  }
}

// A function, not an object of functions, spares each request the object.
forwarded.count = count;
export default forwarded;
