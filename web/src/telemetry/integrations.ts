import { httpIntegration, nodeContextIntegration } from "@sentry/nextjs";

/** Takes the default integrations of the server's SDK and returns them with our own configuration of two of them. */
export function serverIntegrations<T extends { name: string }>(defaults: T[]) {
  const configured = [
    // Next starts the request's span itself. Bodies hold what people typed; only release health needs a session per request.
    httpIntegration({
      disableIncomingRequestSpans: true,
      maxIncomingRequestBodySize: "none",
      trackIncomingRequestsAsSessions: false,
    }),
    // Reading the free memory is a system call for every event.
    nodeContextIntegration({ app: false, device: { cpu: true, memory: false } }),
  ];
  const names = new Set<string>(configured.map(({ name }) => name));
  return [...defaults.filter(({ name }) => !names.has(name)), ...configured];
}
