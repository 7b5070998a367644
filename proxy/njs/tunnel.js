// What plain directives can't do for the tunnel. Runs inside Nginx (njs).

/** The headers of the ingest that a browser needs; everything else it says about itself, not about this origin. */
const passed = ["content-type", "content-length", "x-sentry-rate-limits", "retry-after"];

/** For how many seconds a flooding visitor is asked to be quiet. */
const quiet = 60;

/** After so many refusals within `quiet` seconds, a visitor's errors are silenced too. */
const patience = 200;

/** What can be missed, in Sentry's names for data categories: https://develop.sentry.dev/sdk/expected-features/rate-limiting/ */
const leastWorth = "replay;profile;profile_chunk;transaction;span;session";

/**
 * Header filter: removes every header that the ingest answered but those the SDK reads.
 * Nginx can only hide headers by name; a list of names to hide would miss the next new one.
 * @param {NginxHTTPRequest} r the request whose answer is on its way
 */
function keepKnownHeaders(r) {
  for (const name in r.headersOut) {
    if (!passed.includes(name.toLowerCase())) delete r.headersOut[name];
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

export default { keepKnownHeaders, limits, refuseFlood };
