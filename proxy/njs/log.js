// Counts each request and each envelope once, when it is logged, and writes what it has counted into the log line.

/** @type {Record<string, string>} the reasons of the proxy's own rejections */
const rejections = {
  403: "arguments",
  404: "path",
  405: "method",
  408: "client_timeout",
  413: "size",
  415: "content_type",
};

/**
 * The outcome of an envelope and its reason, in Relay's words.
 * @param {number} status of the response
 * @param {string} asked `$upstream_status`, empty if no upstream was asked
 * @param {string} answeredBy "spool", "capacity", "origin", or empty
 */
function outcome(status, asked, answeredBy) {
  // An ingest's response that is not HTTP: njs/ingest-headers.js.
  if (status < 100) return ["failed", "unreachable"];
  if (answeredBy === "spool" && status >= 400 && status < 500) return ["rejected", `spool_status_${status}`];
  if (answeredBy === "spool") return [status < 300 ? "queued" : "failed", "unreachable"];
  if (answeredBy) return ["rejected", answeredBy];
  if (status === 429) return ["rate_limited", asked ? "ingest" : "proxy"];
  if (status === 503) return ["failed", "unreachable"];
  if (status < 300) return ["accepted", ""];
  if (!asked) return ["rejected", rejections[status] || `status_${status}`];
  return [status < 500 ? "rejected" : "failed", `ingest_status_${status}`];
}

/** @type {(series: string, by: number) => void} adds to a counter that njs/metrics.js shows by this name */
const add = (series, by) => {
  ngx.shared.metrics.incr(series, by, 0);
};

/** @type {(variables: NginxVariables) => boolean[]} whether each attempt got no response: Nginx' own 502 and 504 have no header time */
const unanswered = ({ upstream_status = "", upstream_header_time = "" }) => {
  // Comparing takes 15 µs.
  if (!/50[24]/.test(upstream_status)) return [];
  const times = upstream_header_time.split(/, | : /);
  return upstream_status.split(/, | : /).map((status, n) => /50[24]/.test(status) && times[n] === "-");
};

/** @type {(attempts: boolean[], upstream: string) => void} */
const addFailure = (attempts, upstream) => {
  if (attempts.includes(true)) add(`culvert_upstream_failures_total{upstream="${upstream}"}`, 1);
};

/** @type {(route: string, status: number) => void} */
const addRequest = (route, status) => {
  add(`culvert_requests_total{route="${route}",class="${Math.floor(status / 100)}xx"}`, 1);
};

/** @type {(seconds: number) => void} adds a page to the histogram; NaN if web has not answered */
const addDuration = (seconds) => {
  if (!(seconds >= 0)) return;
  const name = "culvert_page_duration_seconds";
  [0.1, 0.25, 0.5, 1, 2.5, 5, 10].forEach((le) => {
    add(`${name}_bucket{le="${le}"}`, seconds <= le ? 1 : 0);
  });
  add(`${name}_bucket{le="+Inf"}`, 1);
  add(`${name}_sum`, seconds);
  add(`${name}_count`, 1);
};

/** @type {(r: NginxHTTPRequest) => string} fields of the JSON of an envelope */
const envelope = (r) => {
  const variables = r.variables;
  const status = Number(variables.status);
  const asked = variables.upstream_status || "";
  const route = variables.envelope_route || "";
  const result = outcome(status, asked, variables.answered_by || "");
  const labels = `outcome="${result[0]}",reason="${result[1]}"`;
  addRequest(route, status);
  const attempts = unanswered(variables);
  if (attempts.length > 0) {
    // The ingest's come first, unless only the spool was asked.
    const [first, spool] = asked.split(" : ");
    const ofIngest = variables.answered_by === "spool" && !spool ? 0 : first.split(", ").length;
    addFailure(attempts.slice(0, ofIngest), "ingest");
    addFailure(attempts.slice(ofIngest), "spool");
  }
  add(`culvert_${route}_envelopes_total{${labels}}`, 1);
  add("culvert_tunnel_bytes_total", Number(variables.request_length));
  return `"outcome":"${result[0]}","reason":"${result[1]}","status":${status}`;
};

/** @type {(r: NginxHTTPRequest) => string} the status of any other request, as a number of JSON: `$status` can be 009 */
const request = (r) => {
  const variables = r.variables;
  const status = Number(variables.status);
  addRequest(variables.route || "proxy", status);
  addFailure(unanswered(variables), "web");
  // Of the last attempt: the others were not answered.
  const times = variables.upstream_header_time || "";
  if (variables.route === "page") addDuration(parseFloat(times.slice(times.lastIndexOf(" ") + 1)));
  if (variables.asked_release) add(`culvert_deployment_requests_total{release="${variables.asked_release}"}`, 1);
  return `${status}`;
};

export default { envelope, request };
