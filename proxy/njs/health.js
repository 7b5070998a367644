// Readiness of this proxy. Runs inside Nginx (njs).

/**
 * Ready once web has answered; stays ready if web fails later: it still serves the error page and accepts envelopes.
 * @param {NginxHTTPRequest} r
 */
async function ready(r) {
  if (!ngx.shared.health.has("web")) {
    // Whatever web answers. HEAD, because a body would have to fit into the subrequest's buffer.
    const { status } = await r.subrequest("/web/healthz", { method: "HEAD" });
    if (status === 502 || status === 504) {
      r.return(503, "web cannot be reached\n");
      return;
    }
    ngx.shared.health.set("web", 1);
  }
  r.return(200, "ready\n");
}

export default { ready };
