// Tells a file of the build from a page that answers in its place. Runs inside Nginx (njs).

/**
 * Header filter of web's answers to /_next/static: the page of a catch-all route, which is 200 for any address, becomes a 429, on which
 * Nginx asks another replica (templates/static.conf): of the codes that make it do so, the one that no file gets from Next. A file that
 * is a page itself, as of new URL("x.html", import.meta.url), passes.
 * @param {NginxHTTPRequest} r
 */
function refusePage(r) {
  const type = r.headersOut["Content-Type"] || "";
  if (r.status === 200 && !/\.x?html?$/i.test(r.uri) && /^(text\/html|application\/xhtml|text\/x-component)/i.test(type)) r.status = 429;
}

export default { refusePage };
