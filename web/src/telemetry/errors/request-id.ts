/**
 * The header in which the proxy names each request, the same in its log line and in what is reported: 32 hex digits, or what a trusted
 * load balancer in front calls it (proxy/snippets/request-id.conf).
 */
export const REQUEST_ID_HEADER = "x-request-id";

/** Name of the `<meta>` that tells the browser which request made its page. */
export const REQUEST_META_NAME = "culvert-request";

type Values = Pick<Headers, "get">;

/** Takes headers and returns the request's id, or undefined when no proxy named it. */
export function requestIdOf(headers: Values): string | undefined {
  const id = headers.get(REQUEST_ID_HEADER);
  return id && /^[\w.-]{8,128}$/.test(id) ? id : undefined;
}

/**
 * Takes a request's id and returns the event id that an exception which ended the request gets: the same, so that one id is enough to
 * quote. Undefined when it can be none, which has 32 hex digits or is a UUID: https://develop.sentry.dev/sdk/foundations/transport/event-payloads/#required-attributes
 */
export function eventIdOf(requestId: string | undefined): string | undefined {
  const id = requestId?.replaceAll("-", "").toLowerCase();
  return id && /^[\da-f]{32}$/.test(id) ? id : undefined;
}

/** Takes headers as Node has them and returns the request's id, or undefined when no proxy named it. */
export function requestIdIn(headers: NodeJS.Dict<string | string[]>): string | undefined {
  return requestIdOf({ get: (name) => headers[name]?.toString() ?? null });
}

/** Takes the request's headers and returns the `other` metadata that carries its id to the browser. */
export function requestMetadata(headers: Values): Record<string, string> {
  const id = requestIdOf(headers);
  return id ? { [REQUEST_META_NAME]: id } : {};
}

let latest: string | undefined;

/** Takes the document as it was loaded and remembers its request: an error page that replaces the layout has no such meta. */
export function noteDocumentRequest(page: Pick<Document, "querySelector">): void {
  latest = page.querySelector(`meta[name="${REQUEST_META_NAME}"]`)?.getAttribute("content") ?? undefined;
}

/** Returns the id of the latest request that this page's content came from; for support to quote, and for reports. */
export function pageRequestId(): string | undefined {
  return latest;
}

type FetchHint = { input?: unknown[]; response?: { headers: Values } };

/**
 * Takes what the SDK knows of a fetch and remembers its request id when Next made it, for a page or an action: after a
 * navigation in the browser the document's own id is that of an older request.
 */
export function notePageRequest({ input = [], response }: FetchHint): void {
  const init = input[1] as RequestInit | undefined;
  const sent = new Headers(init?.headers);
  if (!response || sent.has("next-router-prefetch") || !(sent.has("rsc") || sent.has("next-action"))) return;
  latest = requestIdOf(response.headers) ?? latest;
}
