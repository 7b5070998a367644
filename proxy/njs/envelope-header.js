// Reads an envelope that is too large for $request_body. Runs inside Nginx (njs).

import fs from "fs";

/** Longer than what a SDK writes before the DSN. */
const HEADER_BYTES = 4096;

/** @type {(r: NginxHTTPRequest) => string} the begin of a request's body that waits in a file; empty if there is none */
const ofFile = (r) => {
  const { request_body_file } = r.variables;
  if (!request_body_file) return "";
  const file = fs.openSync(request_body_file);
  try {
    const bytes = Buffer.alloc(HEADER_BYTES);
    return bytes.toString("utf8", 0, fs.readSync(file, bytes, 0, HEADER_BYTES, 0));
  } finally {
    fs.closeSync(file);
  }
};

export default { ofFile };
