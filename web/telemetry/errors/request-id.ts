type Values = Pick<Headers, "get">;

/**
 * Takes headers and returns the request's id, or undefined without a valid one. The proxy sends it; it is also in its log line: 32 hex digits, or the
 * id of a trusted load balancer in front (proxy/templates/request-id.conf).
 */
export function requestIdOf(headers: Values): string | undefined {
  const id = headers.get("x-request-id");
  return id && /^[\w.-]{8,128}$/.test(id) ? id : undefined;
}

/** The same for headers in Node's format. */
export const requestIdIn = (headers: NodeJS.Dict<string | string[]>): string | undefined =>
  requestIdOf({ get: (name) => headers[name]?.toString() ?? null });

/**
 * Takes a request's id and returns the event id of the exception that ended the request: the same id, so that users quote only one. Undefined if it is
 * none (32 hex digits or a UUID): https://develop.sentry.dev/sdk/foundations/transport/event-payloads/#required-attributes
 */
export function eventIdOf(requestId: string | undefined): string | undefined {
  const id = requestId?.replaceAll("-", "").toLowerCase();
  return id && /^[\da-f]{32}$/.test(id) ? id : undefined;
}

let latestId: string | undefined;

/** Takes the id of the document's request, or undefined without a proxy. */
export function noteDocumentRequest(id: string | undefined): void {
  latestId = id;
}

/** Returns the id of the latest request that this page's content came from, for the error page and for events. */
export const pageRequestId = (): string | undefined => latestId;

/**
 * Takes the SDK's hint for a fetch and stores its request id if Next made the call, for a page or an action: after a navigation in the browser, the
 * document's id belongs to an older request.
 */
export function notePageRequest(hint: { input?: unknown[]; response?: { headers: Values } }): void {
  const sent = new Headers((hint.input?.[1] as RequestInit | undefined)?.headers);
  if (!hint.response || sent.has("next-router-prefetch") || !(sent.has("rsc") || sent.has("next-action"))) return;
  latestId = requestIdOf(hint.response.headers) ?? latestId;
}
