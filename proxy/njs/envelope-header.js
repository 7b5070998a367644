// Reads an envelope that is too large for $request_body.

import fs from "fs";

/** @type {(r: NginxHTTPRequest) => string} the first 4 kB of a request's body that is in a file; empty if there is none */
const ofFile = (r) => {
  const { request_body_file } = r.variables;
  if (!request_body_file) return "";
  const file = fs.openSync(request_body_file);
  try {
    const bytes = Buffer.alloc(4096);
    return bytes.toString("utf8", 0, fs.readSync(file, bytes, 0));
  } finally {
    fs.closeSync(file);
  }
};

export default { ofFile };
