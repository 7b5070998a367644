// Whether the app requests the strict security headers, and the nonce for its pages (snippets/security). Runs inside Nginx (njs).

/**
 * Whether web has ever requested the strict headers. Only then do requests carry a nonce: an app without a use for it would find the
 * policy in its own reports.
 * @returns {string} "1" or ""
 */
function isRequested() {
  return ngx.shared.security.has("strict") ? "1" : "";
}

/**
 * Header filter of web's responses: remembers that one requested the strict headers.
 * @param {NginxHTTPRequest} r
 */
function note(r) {
  const value = r.variables.upstream_http_x_security_headers;
  if (value && value.toLowerCase() === "strict") ngx.shared.security.add("strict", 1);
}

/**
 * A nonce of 128 bits, as CSP asks for: https://w3c.github.io/webappsec-csp/#security-nonces. Not the request id, which a load balancer
 * may have chosen and which is logged.
 * @returns {string} 32 hex digits
 */
function nonce() {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
}

export default { isRequested, note, nonce };
