// What an empty setting means: written by `make settings`.
export const defaults = {
  SENTRY_ENVIRONMENT: "production",
  SENTRY_TRACES_SAMPLE_RATE: "1",
  TUNNEL_PATH: "/monitoring",
  HTTPS_PORT: "8443",
  HTTP_PORT: "8080",
  INGEST_PORT: "8969",
  HEALTH_PATH: "/healthz",
};
