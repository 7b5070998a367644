import { httpIntegration, nodeContextIntegration } from "@sentry/nextjs";

/** Takes the integrations of the server's SDK and returns them with those in place that it uses otherwise than by default. */
export function leaner<T extends { name: string }>(defaults: T[]) {
  const otherwise = [
    // Next opens the request's span itself. A body is what people typed; a session for each request is release health's alone.
    httpIntegration({
      disableIncomingRequestSpans: true,
      maxIncomingRequestBodySize: "none",
      trackIncomingRequestsAsSessions: false,
    }),
    // Free memory is asked of the system anew for every report.
    nodeContextIntegration({ app: false, device: { cpu: true, memory: false } }),
  ];
  const names = new Set<string>(otherwise.map(({ name }) => name));
  return [...defaults.filter(({ name }) => !names.has(name)), ...otherwise];
}
