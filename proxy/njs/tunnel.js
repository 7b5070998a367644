// What plain directives can't do for the tunnel. Runs inside Nginx (njs), imported by templates/tunnel.conf.

/** The headers of the ingest that a browser needs; everything else it says about itself, not about this origin. */
const passed = ["content-type", "content-length", "x-sentry-rate-limits", "retry-after"];

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

export default { keepKnownHeaders };
