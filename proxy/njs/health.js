// Says when this proxy may get traffic. Runs inside Nginx (njs).

/**
 * Ready once web has been found and has answered; it stays ready when web goes away later, because then this proxy is the
 * one that tells readers so. Leaving with web would leave them with a refused connection.
 * @param {NginxHTTPRequest} r
 */
async function ready(r) {
  if (!ngx.shared.health.has("web")) {
    const probe = await r.subrequest("/probe/web");
    if (probe.status >= 500) {
      r.return(503, "web can not be reached\n");
      return;
    }
    ngx.shared.health.set("web", 1);
  }
  r.return(200, "ready\n");
}

export default { ready };
