// One address for each resized image. Runs inside Nginx (njs).

/**
 * The arguments that choose an image, in one order and one spelling, so that no other argument and no other encoding makes one more
 * entry of the same image in the store.
 * @param {NginxHTTPRequest} r
 * @returns {string} `url=…&w=…&q=…`; an argument that is missing or malformed is left out, and Next answers 400
 */
function canonical(r) {
  const pairs = ["url", "w", "q"].map((name) => `${name}=${canonicalValue(r.variables[`arg_${name}`] || "")}`);
  return pairs.filter((pair) => !pair.endsWith("=")).join("&");
}

/**
 * @param {string} value as sent
 * @returns {string} encoded as browsers do it; empty if it can't be decoded
 */
function canonicalValue(value) {
  try {
    return encodeURIComponent(decodeURIComponent(value.replace(/\+/g, "%20")));
  } catch (_) {
    return "";
  }
}

export default { canonical };
