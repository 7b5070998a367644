// What an empty setting means: written by `make settings`.
export const defaults = {
  TUNNEL_PATH: "/monitoring",
  SERVER_NAME: "localhost",
  HTTPS_PORT: "8443",
};
