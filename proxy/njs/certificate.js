// The certificate of a TLS handshake. Runs inside Nginx (njs).

import fs from "fs";

/** A symbolic link to the pair to serve: entrypoint.d/install-certificate.sh. */
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
