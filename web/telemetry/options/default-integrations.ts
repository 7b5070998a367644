import { httpIntegration } from "#sdk";

/** Takes the default integrations of the server's SDK and returns them with our own configuration of the one for HTTP. */
export function serverIntegrations<T extends { name: string }>(defaults: T[]): T[] {
  // The names differ between versions 10 and 11, and each ignores the other's.
  const options = {
    // Next starts the request's span itself.
    disableIncomingRequestSpans: true,
    // Bodies hold what people typed.
    ...(process.env.CULVERT_SCRUBBING !== "off" && { maxIncomingRequestBodySize: "none" }),
    ...(process.env.CULVERT_SESSIONS === "off" && { trackIncomingRequestsAsSessions: false, sessions: false }),
  };
  const http = httpIntegration(options as Parameters<typeof httpIntegration>[0]) as unknown as T;
  return [...defaults.filter(({ name }) => name !== http.name), http];
}
