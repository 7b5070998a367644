import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { notedDigest } from "./digest";
import { errorDocument, errorNoticeHtml, fillErrorDocument } from "./error-page-html";
import { eventIdOf, requestIdIn } from "./request-id";

type Exchange = { request: IncomingMessage; response: ServerResponse };
// biome-ignore lint/suspicious/noExplicitAny: the many overloads of a stream's write and end
type Method = (...args: any[]) => any;

/** Next's whole response to an exception before rendering, as in a form's action. */
const PLAIN_RESPONSE = "Internal Server Error";

/**
 * Shows the error page where scripts do not run or load: Next sends an empty body for React to fill, and has no option to put
 * anything in it. `reporting`: whether the exception has an event, which has the request's id (event-id.ts).
 */
export function serveErrorPageWithoutJs(reporting: boolean): void {
  subscribe("http.server.request.start", (message) => {
    const { request, response } = message as Exchange;
    const [write, end, writeHead]: Method[] = [response.write, response.end, response.writeHead];
    const failed = () => response.statusCode === 500;
    let [firstChunk, replaced] = [true, false];
    // These stay in place until the end: a later wrapper, such as compression, keeps calling them.
    Object.assign(response, {
      writeHead: (...args: unknown[]) => {
        replaced ||= failed() && becomesPage(request, response);
        return writeHead?.apply(response, args);
      },
      write: (chunk: unknown, ...rest: unknown[]) => {
        const content = firstChunk && failed() ? filled(request, response, chunk, reporting) : chunk;
        firstChunk = false;
        return write?.call(response, content, ...rest);
      },
      end: (chunk: unknown, ...rest: unknown[]) => {
        replaced ||= failed() && !response.headersSent && becomesPage(request, response);
        return end?.call(response, replaced && firstChunk ? errorDocument(notice(request, reporting)) : chunk, ...rest);
      },
    });
  });
}

function notice(request: IncomingMessage, reporting: boolean): string {
  const id = requestIdIn(request.headers);
  const eventId = reporting ? eventIdOf(id) : undefined;
  return errorNoticeHtml({ digest: notedDigest(id), requestId: id, eventId });
}

/** The first chunk of a response, with the notice in it if it is Next's empty error document. */
function filled(request: IncomingMessage, response: ServerResponse, chunk: unknown, reporting: boolean): unknown {
  const isPage = String(response.getHeader("content-type")).startsWith("text/html");
  const isText = typeof chunk === "string" || chunk instanceof Uint8Array;
  if (!isPage || !isText || response.hasHeader("content-encoding")) return chunk;
  // The stylesheet of every page, which Next preloads in a header before rendering fails.
  const [, stylesheet] = /<([^>]+)>; rel=preload; as="?style"?/.exec(String(response.getHeader("link"))) ?? [];
  return fillErrorDocument(Buffer.from(chunk as string).toString(), notice(request, reporting), stylesheet);
}

/** Returns whether a request for a page got Next's plain or empty response; if so, sets the headers of a page. */
function becomesPage({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const [length, type] = [response.getHeader("content-length"), response.getHeader("content-type")];
  const isPlain = Number(length) === PLAIN_RESPONSE.length && String(type).startsWith("text/plain");
  // Next's response to an exception in a route handler. Without an exception it is the handler's own, and its body may follow.
  const isEmpty = length === undefined && type === undefined && notedDigest(requestIdIn(headers)) !== undefined;
  const isCompressed = response.hasHeader("content-encoding");
  if (!(isPlain || isEmpty) || isCompressed || !headers.accept?.includes("text/html")) return false;
  response.removeHeader("content-length");
  response.removeHeader("etag");
  response.setHeader("content-type", "text/html; charset=utf-8");
  return true;
}
