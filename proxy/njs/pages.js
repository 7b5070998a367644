// How many requests of each client web has not begun to answer, and whether a client has too many while others are there
// (PAGE_RATE_PER_CLIENT). Runs inside Nginx (njs).

import openRequests from "./open-requests.js";

/**
 * With as many unanswered requests of a kind (its letter), and these more than one in `share` together with others', a client is limited
 * for as long. It is not limited for longer while it exceeds the rate: an office would never get out of it. A page comes with dozens of
 * prefetches, which have a limit of their own, so that a click does not wait behind them.
 * @type {Record<string, { open: number, ms: number }>}
 */
const limits = { p: { open: 32, ms: 30000 }, f: { open: 64, ms: 10000 }, o: { open: 32, ms: 30000 } };
const share = 4;

/**
 * Other requests (forms, API calls) are limited only if as many of them, lately, were answered with a page; again without that, because a
 * client that is limited gets fewer answers.
 */
const maxPages = 100;
const againMs = 60000;

/** How long another client is there after its last page. */
const othersMs = 60000;

/**
 * Requests are counted by the period in which web was asked, and count in it and in the next one: what takes longer waits for something
 * else (a long poll), or was lost with a killed worker. Keep the zone's timeout above two periods (templates/client-limit-zones.conf).
 */
const periodMs = 2000;

/** The first letter of a counter's key. */
const letters = { page: "p", prefetch: "f" };
const other = "o";
const pagesOfOthers = "r";
const again = "a";

/**
 * @param {number} ago 0 for this period, 1 for the one before
 * @returns {string} three digits; they recur after half an hour, when no counter has them any more
 */
function period(ago) {
  return String(100 + ((Math.floor(Date.now() / periodMs) - ago) % 900));
}

/**
 * @param {string} id
 * @returns {number} what is counted in this period and in the one before
 */
function recent(id) {
  const counts = ngx.shared.page_counts;
  return Number(counts.get(id + period(0)) || 0) + Number(counts.get(id + period(1)) || 0);
}

/**
 * @param {NginxHTTPRequest} r
 * @returns {string} of the address of a page
 */
function pathOf(r) {
  return (r.uri || "").slice(0, 128);
}

/**
 * A page is what the request says it is for, or what web has answered with one at this address. A prefetch of a whole document takes as
 * much of web as a page.
 * @param {NginxHTTPRequest} r
 * @returns {string} kind of request and client
 */
function identify(r) {
  const kind = r.variables.page_kind;
  let letter = other;
  if (kind === "prefetch" && (r.variables.http_rsc || r.variables.nextjs_data)) letter = letters.prefetch;
  else if (kind) letter = letters.page;
  else if (r.method === "GET" && ngx.shared.page_paths.has(pathOf(r))) letter = letters.page;
  return letter + (r.rawVariables.client_network?.toString("hex") ?? "");
}

/**
 * Remembers that there are several clients, if this is not the last one's request.
 * @param {number} client
 */
function noteClient(client) {
  const seen = ngx.shared.page_limits;
  const last = seen.get("last");
  if (last === client) return;
  seen.set("last", client);
  if (last !== undefined) seen.set("others", 1, othersMs);
}

/**
 * @param {string} id of a request of a public client
 * @returns {boolean} whether it has too many open while others are there
 */
function exceeds(id) {
  const seen = ngx.shared.page_limits;
  if (seen.has(id)) return true;
  const limit = limits[id[0]];
  const open = recent(id);
  if (open < limit.open || !seen.has("others")) return false;
  const client = id.slice(1);
  const own = Object.keys(limits).reduce((sum, kind) => sum + recent(kind + client), 0);
  if (open * (share - 1) <= recent(openRequests.all) - own) return false;
  if (id[0] === other) {
    if (recent(pagesOfOthers + client) < maxPages && !seen.has(again + client)) return false;
    seen.set(again + client, 1, againMs);
  }
  seen.set(id, 1, limit.ms);
  return true;
}

/**
 * @param {NginxHTTPRequest} r
 * @param {string} id
 */
function add(r, id) {
  const counts = ngx.shared.page_counts;
  const now = period(0);
  counts.incr(id + now, 1, 0);
  counts.incr(openRequests.all + now, 1, 0);
  r.variables.open_page = id + now;
}

/**
 * Variable, the key of limit_req: a client that has too many pages open. Evaluated before web is asked. A page that is not limited is counted
 * at once, because entering njs again costs as much as all of this; other requests may have bodies to wait for.
 * @param {NginxHTTPRequest} r
 * @returns {string} empty for a request that is not limited
 */
function limited(r) {
  const id = identify(r);
  // Of an IPv6 /64, which has 16 digits, the first 12: a number is exact up to 2^53.
  if (!r.variables.is_probe) noteClient(parseInt(id.slice(1, 13), 16));
  if (r.variables.is_private_client === "0" && exceeds(id)) return id;
  if (id[0] !== other) add(r, id);
  return "";
}

/**
 * Variable of a header for web, so evaluated when web is asked, after the wait: counts a request that `limited` has not counted.
 * @param {NginxHTTPRequest} r
 * @returns {string} always empty
 */
function count(r) {
  add(r, identify(r));
  return "";
}

/**
 * Header filter of web's responses. The request no longer counts: event streams and downloads go on for long.
 * @param {NginxHTTPRequest} r
 */
function answered(r) {
  const key = r.variables.open_page;
  if (key && /^text\/(html|x-component)/i.test(r.headersOut["Content-Type"] || "")) {
    if (key[0] === other) ngx.shared.page_counts.incr(pagesOfOthers + key.slice(1, -3) + period(0), 1, 0);
    if (r.method === "GET" && r.status === 200) ngx.shared.page_paths.add(pathOf(r), 1);
  }
  openRequests.release(r);
}

export default { answered, count, limited, recent };
