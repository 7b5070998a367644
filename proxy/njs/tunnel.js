// What plain directives can't do for the tunnel. Runs inside Nginx (njs).

import count from "./count.js";

/** After so many failures in a row the metrics say that an ingest is out. */
const enough = 5;

/**
 * Whether an ingest failed the last reports it was asked to take. For the metrics: whether it is asked is Nginx's own matter
 * (entrypoint.d/30-ingest.sh).
 * @param {string | undefined} ingest its number
 * @returns {boolean}
 */
function hasFailed(ingest) {
  return Number(ngx.shared.outage.get(`failed${ingest}`) || 0) >= enough;
}

/**
 * How often the ingest was asked for this report: "502, 502 : 200" in `$upstream_status` is an ingest and then a spool.
 * @param {NginxHTTPRequest} r
 * @returns {boolean}
 */
function askedIngest(r) {
  const groups = (r.variables.upstream_status || "").split(" : ").filter(Boolean).length;
  return groups > Number(r.variables.asked_spool);
}

/**
 * What becomes known of the ingest when it did not take a report.
 * @param {NginxHTTPRequest} r
 */
function note(r) {
  if (askedIngest(r)) ngx.shared.outage.incr(`failed${r.variables.ingest}`, 1, 0);
}

/**
 * Header filter of the spool's answers: what gets there its ingest did not take, or was not asked to.
 * @param {NginxHTTPRequest} r
 */
function noteOutage(r) {
  removeUnknownHeaders(r);
  note(r);
  count.countReport(r);
}

/**
 * Header filter of the ingest's answers: one that answers is not out.
 * @param {NginxHTTPRequest} r
 */
function noteAnswer(r) {
  // The edge's own refusals pass here as well, and say nothing about the ingest.
  if (!r.variables.upstream_status) return;
  removeUnknownHeaders(r);
  if (ngx.shared.outage.size() > 0) ngx.shared.outage.delete(`failed${r.variables.ingest}`);
  count.countReport(r);
}

/**
 * Header filter where neither ingest nor spool took the report: counted here when one was asked, else by the log.
 * @param {NginxHTTPRequest} r
 */
function noteFailure(r) {
  note(r);
  if (r.variables.upstream_status) count.countReport(r);
}

/**
 * Whether a browser needs this header of the ingest; everything else it says about itself, not about this origin.
 * @param {string} name as ingests spell it, or in small letters
 * @returns {boolean}
 */
function isPassed(name) {
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
 * Removes every header of an answer but those the SDK reads.
 * Nginx can only hide headers by name; a list of names to hide would miss the next new one.
 * @param {NginxHTTPRequest} r the request whose answer is on its way
 */
function removeUnknownHeaders(r) {
  const headers = r.headersOut;
  for (const name in headers) {
    if (!isPassed(name) && !isPassed(name.toLowerCase())) delete headers[name];
  }
}

export default { hasFailed, noteAnswer, noteFailure, noteOutage, removeUnknownHeaders };
