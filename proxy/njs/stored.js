/** @type {(r: NginxHTTPRequest) => void} header filter: a page in place of a stored file is 404 */
const missing = (r) => {
  if (r.variables.static_unstorable) r.status = 404;
};

export default { missing };
