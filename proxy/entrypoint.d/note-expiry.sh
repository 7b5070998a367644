#!/bin/sh
# note-expiry.sh CERTIFICATE: leaves the moment of its end, in seconds since 1970, where njs/metrics.js finds it.
set -eu
end=$(openssl x509 -noout -enddate -in "$1")
date -d "${end#notAfter=}" +%s >"$RENDERED/certificate-expiry"
