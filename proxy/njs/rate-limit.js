// Answers clients that exceed the tunnel's rate limits (templates/tunnel-limits.conf). Runs inside Nginx (njs).

/** For how many seconds a rate-limited client is asked to stop sending. */
const silenceSeconds = 60;

/** After this many rejections within `silenceSeconds`, errors are rate limited as well. */
const maxBeforeErrors = 200;

/** What is rate limited first, in Sentry's data categories: https://develop.sentry.dev/sdk/expected-features/rate-limiting/ */
const lowPriority = "replay;profile;profile_chunk;transaction;span;session";

/**
 * The value of X-Sentry-Rate-Limits for a client that was rejected `times` times. Errors are rate limited last, and a 429 without this
 * header, which would stop every category, never leaves the proxy.
 * @param {number} times
 * @returns {string} `<seconds>:<categories>:<scope>:<reason>`; no categories means all
 */
function limits(times) {
  return `${silenceSeconds}:${times > maxBeforeErrors ? "" : lowPriority}:key:culvert_rate_limit`;
}

/**
 * The client's IPv4 address or IPv6 network (templates/app-limits.conf).
 * @param {NginxHTTPRequest} r
 * @returns {string}
 */
function clientNetwork(r) {
  return r.rawVariables.client_network?.toString("hex") ?? "";
}

/**
 * Counts a rejection.
 * @param {string} client
 * @returns {number} how many there were since the first one, which is forgotten after `silenceSeconds`
 */
function count(client) {
  const rejections = ngx.shared.rate_limited;
  // `incr` alone would continue from where an expired count ended: https://nginx.org/en/docs/njs/reference.html#dict_incr
  if (rejections.has(client)) return rejections.incr(client, 1, 0);
  rejections.set(client, 1, silenceSeconds * 1000);
  return 1;
}

/**
 * Header filter of the response to an envelope that exceeds a rate limit. A content handler of njs would read the envelope's body first.
 * @param {NginxHTTPRequest} r
 */
function addHeaders(r) {
  const times = count(clientNetwork(r));
  r.headersOut["X-Sentry-Rate-Limits"] = limits(times);
  r.headersOut["Retry-After"] = String(silenceSeconds);
}

export default { addHeaders, limits };
