// What of an ingest's response reaches the client, which Nginx's own directives cannot express. Runs inside Nginx (njs).

/** What the SDK reads. */
const allowed = ["content-type", "content-length", "x-sentry-rate-limits", "retry-after"];

/**
 * Header filter: removes every other header. Usually none is left (templates/forward-to-ingest.conf).
 * @param {NginxHTTPRequest} r
 * @throws {Error} for a response that is not HTTP: Nginx takes it for HTTP/0.9, and would send its bytes to the client as they are. The
 * connection is closed instead: the browser queues the envelope as it does while it is offline, web's server gives it to the spool.
 */
function filter(r) {
  if (r.status < 100) throw new Error("the response of the ingest is not HTTP");
  const headers = r.headersOut;
  for (const name in headers) {
    if (allowed.indexOf(name.toLowerCase()) < 0) delete headers[name];
  }
  if (r.status < 300) headers["Content-Length"] = "0";
}

/**
 * Body filter: the response to an accepted envelope has no body. Chromium would free the page's keepalive quota only 50 ms later.
 * @param {NginxHTTPRequest} r
 * @param {string} data
 * @param {NginxHTTPSendBufferOptions} flags
 */
function dropAccepted(r, data, flags) {
  r.sendBuffer(r.status < 300 ? "" : data, flags);
}

export default { dropAccepted, filter };
