// Which app asked for the strict security headers, and the nonce for its pages (snippets/security). Runs inside Nginx (njs).

/**
 * Whether web has ever answered this proxy that it wants the strict headers. Only then do requests carry a nonce: an app that has no
 * use for it would find the policy in its own reports.
 * @returns {string} "1" or ""
 */
function asked() {
  return ngx.shared.security.has("strict") ? "1" : "";
}

/**
 * Header filter of web's answers: remembers that one asked.
 * @param {NginxHTTPRequest} r
 */
function note(r) {
  const wish = r.variables.upstream_http_x_security_headers;
  if (wish && wish.toLowerCase() === "strict") ngx.shared.security.add("strict", 1);
}

/**
 * A nonce of 128 bits, as CSP asks for: https://w3c.github.io/webappsec-csp/#security-nonces. Not the request's id, which a load balancer
 * may have chosen and which stands in logs.
 * @returns {string} 32 hex digits
 */
function nonce() {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
}

export default { asked, note, nonce };
