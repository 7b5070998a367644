// Readiness of this proxy.

/** @type {(r: NginxHTTPRequest) => Promise<void>} ready once web has answered; later without web, too: there are envelopes, and an error page */
const ready = async (r) => {
  if (!ngx.shared.health.has("web")) {
    // Whatever web answers. HEAD, because a body would have to fit into the subrequest's buffer.
    const { status, variables } = await r.subrequest(`${r.variables.app_health}`, { method: "HEAD" });
    // Nginx' own, without a header time.
    if ((status === 502 || status === 504) && !/\d$/.test(`${variables.upstream_header_time}`)) {
      r.return(503, "web cannot be reached\n");
      return;
    }
    // If another protocol listens there, Nginx would pass its bytes on.
    if (status < 100) {
      r.return(503, "web does not speak HTTP: check WEB_UPSTREAM\n");
      return;
    }
    ngx.shared.health.set("web", 1);
  }
  r.return(200, "ready\n");
};

export default { ready };
