// Distinguishes a file of the build from a page in its place. Runs inside Nginx (njs).

/**
 * Header filter of web's responses to /_next/static: the page of a catch-all route, which is 200 for any address, becomes a 429, on which
 * Nginx asks another replica (templates/static.conf): Next never answers a file with 429. A file that
 * is a page itself, as of new URL("x.html", import.meta.url), passes.
 * @param {NginxHTTPRequest} r
 */
function rejectPage(r) {
  const type = r.headersOut["Content-Type"] || "";
  if (r.status === 200 && !/\.x?html?$/i.test(r.uri) && /^(text\/html|application\/xhtml|text\/x-component)/i.test(type)) r.status = 429;
}

export default { rejectPage };
