// What a visitor hears who sends too many reports. Runs inside Nginx (njs).

/** For how many seconds a flooding visitor is asked to be quiet. */
const quiet = 60;

/** After so many refusals within `quiet` seconds, a visitor's errors are silenced too. */
const patience = 200;

/** What can be missed, in Sentry's names for data categories: https://develop.sentry.dev/sdk/expected-features/rate-limiting/ */
const leastWorth = "replay;profile;profile_chunk;transaction;span;session";

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
 * Who it is: a network of IPv6 is one visitor (templates/tunnel.conf).
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function visitor(r) {
  return r.rawVariables.visitor?.toString("hex") ?? "";
}

/**
 * Counts a refusal.
 * @param {string} who
 * @returns {number} how many there were since the first one, which is forgotten after `quiet` seconds
 */
function count(who) {
  const refused = ngx.shared.refused;
  // `incr` alone would go on from where an expired count ended: https://nginx.org/en/docs/njs/reference.html#dict_incr
  if (refused.has(who)) return refused.incr(who, 1, 0);
  refused.set(who, 1, quiet * 1000);
  return 1;
}

/**
 * Answers a report that came too fast.
 * @param {NginxHTTPRequest} r
 */
function refuseFlood(r) {
  const times = count(visitor(r));
  r.headersOut["X-Sentry-Rate-Limits"] = limits(times);
  r.headersOut["Retry-After"] = String(quiet);
  r.return(429, '{"reason":"too many reports; errors are still taken until this goes on"}');
}

export default { limits, refuseFlood };
