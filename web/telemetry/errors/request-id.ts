/**
 * The header in which the proxy sends each request's id, which is also in its log line and in events: 32 hex digits, or the id
 * of a trusted load balancer in front (proxy/templates/request-id.conf).
 */
export const REQUEST_ID_HEADER = "x-request-id";

type Values = Pick<Headers, "get">;

/** Takes headers and returns the request's id, or undefined without a valid one. */
export function requestIdOf(headers: Values): string | undefined {
  const id = headers.get(REQUEST_ID_HEADER);
  return id && /^[\w.-]{8,128}$/.test(id) ? id : undefined;
}

/**
 * Takes a request's id and returns the event id of the exception that ended the request: the same id, so that users quote only
 * one. Undefined if it is not a valid event id (32 hex digits or a UUID): https://develop.sentry.dev/sdk/foundations/transport/event-payloads/#required-attributes
 */
export function eventIdOf(requestId: string | undefined): string | undefined {
  const id = requestId?.replaceAll("-", "").toLowerCase();
  return id && /^[\da-f]{32}$/.test(id) ? id : undefined;
}

/** Takes headers in Node's format and returns the request's id, or undefined without a valid one. */
export function requestIdIn(headers: NodeJS.Dict<string | string[]>): string | undefined {
  return requestIdOf({ get: (name) => headers[name]?.toString() ?? null });
}

let latestId: string | undefined;

/** Takes the id of the document's request, or undefined without a proxy. */
export function noteDocumentRequest(id: string | undefined): void {
  latestId = id;
}

/** Returns the id of the latest request that this page's content came from, for the error page and for events. */
export function pageRequestId(): string | undefined {
  return latestId;
}

type FetchHint = { input?: unknown[]; response?: { headers: Values } };

/**
 * Takes the SDK's hint for a fetch and stores its request id if Next made the call, for a page or an action: after a
 * navigation in the browser, the document's id belongs to an older request.
 */
export function notePageRequest({ input = [], response }: FetchHint): void {
  const init = input[1] as RequestInit | undefined;
  const sent = new Headers(init?.headers);
  if (!response || sent.has("next-router-prefetch") || !(sent.has("rsc") || sent.has("next-action"))) return;
  latestId = requestIdOf(response.headers) ?? latestId;
}
