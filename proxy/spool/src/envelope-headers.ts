import type { IncomingHttpHeaders } from "node:http";

/** The request headers that are stored and delivered with an envelope: those of the tunnel (proxy/snippets/envelope-headers.conf), no others. */
const names = [
  "Content-Type",
  "Content-Encoding",
  "User-Agent",
  "Sec-CH-UA",
  "Sec-CH-UA-Model",
  "Sec-CH-UA-Platform",
  "Sec-CH-UA-Platform-Version",
  "Origin",
  "X-Forwarded-For",
] as const;

/** Headers as they are stored. */
export type EnvelopeHeaders = Partial<Record<(typeof names)[number], string>>;

/** Takes the headers of a request from the proxy and returns those to store. */
export function storedHeaders(headers: IncomingHttpHeaders): EnvelopeHeaders {
  return Object.fromEntries(
    names.map((name) => [name, headers[name.toLowerCase()]] as const).filter(([, value]) => value),
  );
}

/** Takes stored headers and returns those of the request to the ingest. */
export function requestHeaders(stored: EnvelopeHeaders): Record<string, string> {
  // The same in the header that Sentry believes first.
  return { ...stored, ...(stored["X-Forwarded-For"] && { "X-Sentry-Forwarded-For": stored["X-Forwarded-For"] }) };
}

/** The Content-Encoding of a body; empty for none. */
export const encodingOf = (stored: EnvelopeHeaders) => (stored["Content-Encoding"] ?? "").toLowerCase();
