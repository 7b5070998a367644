// Ends what pages.js began to count. Nginx evaluates what a location imports for each request, and an error page needs only this. Runs
// inside Nginx (njs).

import response from "./response.js";

/** The counter of all clients' requests, before its period. */
const all = "all";

/**
 * The request counts no longer as one that web has not begun to answer.
 * @param {NginxHTTPRequest} r
 */
function release(r) {
  const key = r.variables.open_page;
  if (!key) return;
  r.variables.open_page = "";
  const counts = ngx.shared.page_counts;
  [key, all + key.slice(-3)].forEach((counter) => {
    if (counts.has(counter)) counts.incr(counter, -1);
  });
}

/**
 * Log-phase variable for requests that web has not answered: clients that gave up, failures.
 * @param {NginxHTTPRequest} r
 * @returns {string} always "1"
 */
function countAnswer(r) {
  release(r);
  return response.count(r);
}

export default { all, countAnswer, release };
