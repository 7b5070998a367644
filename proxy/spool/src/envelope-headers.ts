import type { IncomingHttpHeaders } from "node:http";

/**
 * The request headers that are stored and delivered with an envelope, by their keys in the stored JSON: those of the tunnel
 * (proxy/snippets/envelope-headers.conf) and no others.
 */
const names = {
  contentType: "Content-Type",
  contentEncoding: "Content-Encoding",
  userAgent: "User-Agent",
  clientHints: "Sec-CH-UA",
  clientHintsModel: "Sec-CH-UA-Model",
  clientHintsPlatform: "Sec-CH-UA-Platform",
  clientHintsPlatformVersion: "Sec-CH-UA-Platform-Version",
  origin: "Origin",
  clientIp: "X-Forwarded-For",
} as const;

type Key = keyof typeof names;

/** Headers as they are stored. */
export type EnvelopeHeaders = Partial<Record<Key, string>>;

/** Takes the headers of a request from the proxy and returns those to store. */
export function storedHeaders(headers: IncomingHttpHeaders): EnvelopeHeaders {
  const stored: EnvelopeHeaders = {};
  for (const [key, name] of Object.entries(names) as [Key, string][]) {
    const value = headers[name.toLowerCase()];
    if (typeof value === "string" && value !== "") stored[key] = value;
  }
  if (stored.contentEncoding) stored.contentEncoding = stored.contentEncoding.toLowerCase();
  return stored;
}

/** Takes stored headers and returns those of the request to the ingest. */
export function requestHeaders(stored: EnvelopeHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [key, name] of Object.entries(names) as [Key, string][]) {
    const value = stored[key];
    if (value) headers[name] = value;
  }
  // The same in the header that Sentry believes first.
  if (stored.clientIp) headers["X-Sentry-Forwarded-For"] = stored.clientIp;
  return headers;
}
