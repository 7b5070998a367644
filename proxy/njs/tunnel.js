// What plain directives can't do for the tunnel. Runs inside Nginx (njs).

import metrics from "./metrics.js";

/**
 * The headers of the ingest that a browser needs; everything else it says about itself, not about this origin. A look-up, and
 * spelled as ingests spell them first: this runs on every report.
 * @type {Record<string, unknown>}
 */
const passed = {
  "Content-Type": true,
  "Content-Length": true,
  "X-Sentry-Rate-Limits": true,
  "Retry-After": true,
  "content-type": true,
  "content-length": true,
  "x-sentry-rate-limits": true,
  "retry-after": true,
};

/** For how many seconds a flooding visitor is asked to be quiet. */
const quiet = 60;

/** After so many refusals within `quiet` seconds, a visitor's errors are silenced too. */
const patience = 200;

/** What can be missed, in Sentry's names for data categories: https://develop.sentry.dev/sdk/expected-features/rate-limiting/ */
const leastWorth = "replay;profile;profile_chunk;transaction;span;session";

/** After so many failures in a row an ingest counts as out; then it is asked once in `probeEvery` ms until it answers. */
const enough = 5;
const probeEvery = 1000;

/**
 * Variable: "1" when this report should not wait for its ingest to fail, because it has failed all the last ones. A hanging
 * ingest would otherwise hold every report for ten seconds. One report a second is let through to find out.
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function isOut(r) {
  if (ngx.shared.outage.size() === 0) return "";
  const ingest = r.variables.ingest;
  if (Number(ngx.shared.outage.get(`failed${ingest}`) || 0) < enough) return "";
  return ngx.shared.outage.add(`probed${ingest}`, 1, probeEvery) ? "" : "1";
}

/**
 * Header filter of the spool's answers: what gets there was not taken by its ingest.
 * @param {NginxHTTPRequest} r
 */
function noteOutage(r) {
  removeUnknownHeaders(r);
  ngx.shared.outage.incr(`failed${r.variables.ingest}`, 1, 0);
  metrics.countReport(r);
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
  metrics.countReport(r);
}

/**
 * Header filter where neither ingest nor spool took the report: counted here when one was asked, else by the log.
 * @param {NginxHTTPRequest} r
 */
function noteFailure(r) {
  if (r.variables.upstream_status) metrics.countReport(r);
}

/**
 * Removes every header of an answer but those the SDK reads.
 * Nginx can only hide headers by name; a list of names to hide would miss the next new one.
 * @param {NginxHTTPRequest} r the request whose answer is on its way
 */
function removeUnknownHeaders(r) {
  const headers = r.headersOut;
  for (const name in headers) {
    // Not only "is there": every object has a "constructor".
    if (passed[name] !== true && passed[name.toLowerCase()] !== true) delete headers[name];
  }
}

/**
 * The value of X-Sentry-Rate-Limits for a visitor refused `times` times: errors are silenced last, and a 429 without this
 * header, which would silence everything, never leaves the proxy.
 * @param {number} times
 * @returns {string} `<seconds>:<categories>:<scope>:<reason>`; no categories means all
 */
function limits(times) {
  return `${quiet}:${times > patience ? "" : leastWorth}:key:culvert_flood`;
}

/**
 * Answers a report that came too fast.
 * @param {NginxHTTPRequest} r
 */
function refuseFlood(r) {
  const times = ngx.shared.refused.incr(r.remoteAddress, 1, 0, quiet * 1000);
  r.headersOut["X-Sentry-Rate-Limits"] = limits(times);
  r.headersOut["Retry-After"] = String(quiet);
  r.return(429, '{"reason":"too many reports; errors are still taken until this goes on"}');
}

export default { isOut, limits, noteAnswer, noteFailure, noteOutage, refuseFlood, removeUnknownHeaders };
