// What of an ingest's response reaches the client, which Nginx's own directives cannot express.

/** What the SDK reads. */
const allowed = ["content-type", "content-length", "x-sentry-rate-limits", "retry-after"];

/** @type {(r: NginxHTTPRequest) => void} header filter: removes every other header */
const filter = (r) => {
  // Nginx takes it for HTTP/0.9. The error closes the connection, and the browser queues the envelope as it does while it is offline.
  if (r.status < 100) throw new Error("the response of the ingest is not HTTP");
  const headers = r.headersOut;
  for (const name in headers) {
    if (allowed.indexOf(name.toLowerCase()) < 0) delete headers[name];
  }
  if (r.status < 300) headers["Content-Length"] = "0";
};

/**
 * Body filter: the response to an accepted envelope has no body, and ends when its header has come, whatever the ingest sends after it. Chromium
 * would free the page's keepalive quota only 50 ms after a body. An ingest that goes on for more than 64 kB is left.
 * @type {(r: NginxHTTPRequest, data: string, flags: NginxHTTPSendBufferOptions) => void}
 */
const dropAccepted = (r, data, flags) => {
  if (r.status >= 300) {
    r.sendBuffer(data, flags);
    return;
  }
  const { dropped_bytes } = r.variables;
  if (!dropped_bytes) r.sendBuffer("", { last: true });
  const dropped = Number(dropped_bytes || 0) + data.length;
  if (dropped > 65536) throw new Error("the response of the ingest does not end");
  r.variables.dropped_bytes = `${dropped}`;
};

export default { dropAccepted, filter };
