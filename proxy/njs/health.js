// Readiness of this proxy. Runs inside Nginx (njs).

/**
 * Ready once web has answered; stays ready if web fails later, because then this proxy serves the error page. If it became unready
 * with web, clients would get a refused connection.
 * @param {NginxHTTPRequest} r
 */
async function ready(r) {
  if (!ngx.shared.health.has("web")) {
    // One probe at a time, however many clients ask.
    const mine = ngx.shared.probing.add("web", 1);
    const response = mine && (await r.subrequest("/probe/web", { method: "HEAD" }));
    if (mine) ngx.shared.probing.delete("web");
    if (!response || response.status >= 500) {
      r.return(503, "web cannot be reached\n");
      return;
    }
    ngx.shared.health.set("web", 1);
  }
  r.return(200, "ready\n");
}

/** Probes this proxy's own readiness until it is ready. */
async function probe() {
  if (ngx.shared.health.has("web")) return;
  await ngx.fetch("http://127.0.0.1:8081/readyz").catch(() => undefined);
}

export default { probe, ready };
