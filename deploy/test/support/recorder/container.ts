import { root } from "../docker.ts";

/** What `docker run` needs to run a recorder; with the folder of a certificate `server`, it also listens on 9443. */
export const recorderArguments = (certificates = ""): string[] => [
  ...(certificates ? [`--volume=${certificates}:/cert:ro`, "--env=CERT=/cert/server"] : []),
  `--volume=${root}/deploy/test/support/recorder:/recorder:ro`,
  ...["node:24-trixie-slim", "node", "/recorder/server.ts"],
];
