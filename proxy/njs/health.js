// Says when this proxy may get traffic. Runs inside Nginx (njs).

/**
 * Ready once web has been found and has answered; it stays ready when web goes away later, because then this proxy is the
 * one that tells readers so. Leaving with web would leave them with a refused connection.
 * @param {NginxHTTPRequest} r
 */
async function ready(r) {
  if (!ngx.shared.health.has("web")) {
    // One at a time: web hears one question, not one from each who wants to know.
    const mine = ngx.shared.probing.add("web", 1);
    const probe = mine && (await r.subrequest("/probe/web", { method: "HEAD" }));
    if (mine) ngx.shared.probing.delete("web");
    if (!probe || probe.status >= 500) {
      r.return(503, "web can not be reached\n");
      return;
    }
    ngx.shared.health.set("web", 1);
  }
  r.return(200, "ready\n");
}

/** Asks this proxy itself whether it is ready, until it is. */
async function ask() {
  if (ngx.shared.health.has("web")) return;
  await ngx.fetch("http://127.0.0.1:8081/readyz").catch(() => undefined);
}

export default { ask, ready };
