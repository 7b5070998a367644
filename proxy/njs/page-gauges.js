// What pages.js has counted, for the metrics. Runs inside Nginx (njs).

import openRequests from "./open-requests.js";
import pages from "./pages.js";

/** @returns {number} requests that web has not begun to answer */
function open() {
  return pages.recent(openRequests.all);
}

/** @returns {number} clients that are limited by default */
function clientsLimited() {
  const clients = ngx.shared.page_limits.keys().filter((key) => /^[pfo][0-9a-f]/.test(key));
  return clients.map((key) => key.slice(1)).filter((client, n, list) => list.indexOf(client) === n).length;
}

export default { clientsLimited, open };
