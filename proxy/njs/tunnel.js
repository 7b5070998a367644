// What plain directives can't do for the tunnel. Runs inside Nginx (njs).

import count from "./count.js";

/** After so many failures in a row an ingest counts as out; then it is asked once in `probeEvery` ms until it answers. */
const enough = 5;
const probeEvery = 1000;

/**
 * Whether an ingest failed the last reports it was asked to take.
 * @param {string | undefined} ingest its number
 * @returns {boolean}
 */
function hasFailed(ingest) {
  return Number(ngx.shared.outage.get(`failed${ingest}`) || 0) >= enough;
}

/** What isOut says of the one report a second that is let through to find out. */
const probe = "probe";

/**
 * Variable: "1" when this report should not wait for its ingest to fail, because it has failed all the last ones. A hanging
 * ingest would otherwise hold every report for ten seconds. One report a second is let through to find out: "probe".
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function isOut(r) {
  if (ngx.shared.outage.size() === 0) return "";
  const ingest = r.variables.ingest;
  if (!hasFailed(ingest)) return "";
  return ngx.shared.outage.add(`probed${ingest}`, 1, probeEvery) ? probe : "1";
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
  else giveBack(r);
}

/**
 * A report that was to find out, and was stopped before it could, leaves that to the next one.
 * @param {NginxHTTPRequest} r
 */
function giveBack(r) {
  if (r.variables.ingest_is_out === probe) ngx.shared.outage.delete(`probed${r.variables.ingest}`);
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

export default { giveBack, hasFailed, isOut, noteAnswer, noteFailure, noteOutage, removeUnknownHeaders };
