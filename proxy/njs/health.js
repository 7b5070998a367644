// Readiness of this proxy. Runs inside Nginx (njs).

/**
 * Ready once web has answered; stays ready if web fails later, because then this proxy serves the error page. If it became unready
 * with web, clients would get a refused connection.
 * @param {NginxHTTPRequest} r
 */
async function ready(r) {
  if (!ngx.shared.health.has("web")) {
    const { status } = await r.subrequest("/probe/web", { method: "HEAD" });
    if (status >= 500) {
      r.return(503, "web cannot be reached\n");
      return;
    }
    ngx.shared.health.set("web", 1);
  }
  r.return(200, "ready\n");
}

export default { ready };
