// Runs inside Nginx (njs).

/** @type {(r: NginxHTTPRequest) => void} header filter: what cannot replace a stored file is no such file; an app may have a page for every address */
const missing = (r) => {
  if (r.variables.static_unstorable) r.status = 404;
};

export default { missing };
