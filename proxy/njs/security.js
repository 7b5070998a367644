// The nonce of a page (snippets/security/content-security-policy.conf). Runs inside Nginx (njs).

/**
 * A nonce of 128 bits, as CSP asks for: https://w3c.github.io/webappsec-csp/#security-nonces. Not the request id, which a load balancer
 * may have chosen and which is logged.
 * @returns {string} 32 hex digits
 */
function nonce() {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
}

export default { nonce };
