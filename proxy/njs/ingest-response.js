// Responses to envelopes that the ingest did not accept: counts them, and the failures of the ingest. Runs inside Nginx (njs).

import forwarded from "./response.js";

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

/**
 * Counts a failure. Half a byte in the sum of bytes, which every envelope reads when it adds its own, tells that there is one: looking it up
 * would cost an envelope as much as counting it.
 * @param {NginxHTTPRequest} r
 */
function noteFailure(r) {
  if (!askedIngest(r)) return;
  const failed = ngx.shared.ingest_failures;
  failed.incr(`failed${r.variables.ingest}`, 1, 0);
  if (failed.add("noted", 1)) ngx.shared.metrics.incr("bytes", 0.5);
}

/**
 * Header filter of the spool's responses: the ingest failed, or was not asked.
 * @param {NginxHTTPRequest} r
 */
function fromSpool(r) {
  noteFailure(r);
  forwarded(r, true);
}

/**
 * Header filter where neither ingest nor spool accepted the envelope. Counted here if one of them was asked, else by the access log.
 * @param {NginxHTTPRequest} r
 */
function fromNeither(r) {
  noteFailure(r);
  forwarded(r, true);
}

export default { fromNeither, fromSpool, isDown };
