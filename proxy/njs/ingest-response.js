// Filters the response headers of ingest and spool, and remembers failures of the ingest. Runs inside Nginx (njs).

import count from "./count.js";

/** After this many consecutive failures the metrics report an ingest as down. */
const maxFailures = 5;

/**
 * Whether an ingest failed for the last envelopes. Only for the metrics: Nginx itself decides whether it is asked
 * (templates/ingest-upstream.conf).
 * @param {string | undefined} ingest its number
 * @returns {boolean}
 */
function isDown(ingest) {
  return Number(ngx.shared.ingest_failures.get(`failed${ingest}`) || 0) >= maxFailures;
}

/**
 * Whether the ingest was asked: `$upstream_status` is "502, 502 : 200" if the spool answered after two attempts at the ingest.
 * @param {NginxHTTPRequest} r
 * @returns {boolean}
 */
function askedIngest(r) {
  const groups = (r.variables.upstream_status || "").split(" : ").filter(Boolean).length;
  return groups > Number(r.variables.spool_tried);
}

/** @param {NginxHTTPRequest} r */
function noteFailure(r) {
  if (askedIngest(r)) ngx.shared.ingest_failures.incr(`failed${r.variables.ingest}`, 1, 0);
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
  const failed = ngx.shared.ingest_failures;
  if (failed.size() > 0) failed.delete(`failed${variables.ingest}`);
  count.addEnvelope(key, variables);
}

/**
 * Header filter of the spool's responses: the ingest failed, or was not asked.
 * @param {NginxHTTPRequest} r
 */
function fromSpool(r) {
  removeUnknownHeaders(r);
  noteFailure(r);
  count.countEnvelope(r);
}

/**
 * Header filter where neither ingest nor spool accepted the envelope. Counted here if one of them was asked, else by the access log.
 * @param {NginxHTTPRequest} r
 */
function fromNeither(r) {
  noteFailure(r);
  if (r.variables.upstream_status) count.countEnvelope(r);
}

/**
 * Whether the SDK reads this header of the response.
 * @param {string} name as ingests spell it, or in lower case
 * @returns {boolean}
 */
function isAllowed(name) {
  switch (name) {
    case "Content-Type":
    case "Content-Length":
    case "X-Sentry-Rate-Limits":
    case "Retry-After":
    case "content-type":
    case "content-length":
    case "x-sentry-rate-limits":
    case "retry-after":
      return true;
    default:
      return false;
  }
}

/**
 * Removes every response header that the SDK does not read: an allow-list, which Nginx's own directives cannot express.
 * @param {NginxHTTPRequest} r
 */
function removeUnknownHeaders(r) {
  const headers = r.headersOut;
  for (const name in headers) {
    if (!isAllowed(name) && !isAllowed(name.toLowerCase())) delete headers[name];
  }
}

export default { fromIngest, fromNeither, fromSpool, isDown, removeUnknownHeaders };
