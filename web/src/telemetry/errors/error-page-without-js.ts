import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { notedDigest } from "./digest";
import { fillShell, plainDocument, plainError } from "./error-page-html";
import { eventIdOf, requestIdIn } from "./request-id";

type Exchange = { request: IncomingMessage; response: ServerResponse };
// biome-ignore lint/suspicious/noExplicitAny: the many overloads of a stream's write and end
type Method = (...args: any[]) => any;

/** All that Next says of an exception that it met before rendering, as in a form's action. */
const BARE = "Internal Server Error";

/**
 * Makes the error catalogue's page visible where scripts don't run, or don't load: Next sends an empty body for React to fill, and
 * offers no way to put anything in it. `reporting`: whether the exception has an event, which bears the request's id (event-id.ts).
 */
export function showPlainErrors(reporting: boolean): void {
  subscribe("http.server.request.start", (message) => {
    const { request, response } = message as Exchange;
    const [write, end, writeHead]: Method[] = [response.write, response.end, response.writeHead];
    const failed = () => response.statusCode === 500;
    let [first, bare] = [true, false];
    // They stay in place to the end: who wraps them later, to compress, keeps calling them.
    Object.assign(response, {
      writeHead: (...args: unknown[]) => {
        bare ||= failed() && becomesPage(request, response);
        return writeHead?.apply(response, args);
      },
      write: (chunk: unknown, ...rest: unknown[]) => {
        const piece = first && failed() ? filled(request, response, chunk, reporting) : chunk;
        first = false;
        return write?.call(response, piece, ...rest);
      },
      end: (chunk: unknown, ...rest: unknown[]) => {
        bare ||= failed() && !response.headersSent && becomesPage(request, response);
        return end?.call(response, bare && first ? plainDocument(notice(request, reporting)) : chunk, ...rest);
      },
    });
  });
}

function notice(request: IncomingMessage, reporting: boolean): string {
  const id = requestIdIn(request.headers);
  const eventId = reporting ? eventIdOf(id) : undefined;
  return plainError({ digest: notedDigest(id), requestId: id, eventId });
}

/** The first piece of a page, with the notice in it if it is Next's empty one. */
function filled(request: IncomingMessage, response: ServerResponse, chunk: unknown, reporting: boolean): unknown {
  const isPage = String(response.getHeader("content-type")).startsWith("text/html");
  const isText = typeof chunk === "string" || chunk instanceof Uint8Array;
  if (!isPage || !isText || response.hasHeader("content-encoding")) return chunk;
  // The stylesheet of every page, which Next names in a header before it knows that there will be none.
  const [, stylesheet] = /<([^>]+)>; rel=preload; as="?style"?/.exec(String(response.getHeader("link"))) ?? [];
  return fillShell(Buffer.from(chunk as string).toString(), notice(request, reporting), stylesheet);
}

/** Whether the answer is Next's words at most, for someone who asked for a page; if so, its headers become a page's. */
function becomesPage({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const [length, type] = [response.getHeader("content-length"), response.getHeader("content-type")];
  const isBare = Number(length) === BARE.length && String(type).startsWith("text/plain");
  // All that Next says of an exception in a route handler. Without one the answer is the handler's own, and its body may follow.
  const isEmpty = length === undefined && type === undefined && notedDigest(requestIdIn(headers)) !== undefined;
  const isCompressed = response.hasHeader("content-encoding");
  if (!(isBare || isEmpty) || isCompressed || !headers.accept?.includes("text/html")) return false;
  response.removeHeader("content-length");
  response.removeHeader("etag");
  response.setHeader("content-type", "text/html; charset=utf-8");
  return true;
}
