// Where a TLS handshake finds its certificate. Runs inside Nginx (njs).

import fs from "fs";

/** A link that entrypoint.d/install-certificate.sh points at the pair to serve. */
const current = "/tmp/nginx/certificate";

/**
 * The folder of the pair that the link points at now. Read at every handshake, so that a renewed certificate needs no reload: one
 * would reset connections in use.
 * @returns {string}
 */
function folder() {
  return fs.realpathSync(current);
}

export default { folder };
