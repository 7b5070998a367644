import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isFirstCall } from "../once.js";

/** Takes a request, its response, and its status when its headers are written; returns metrics: https://www.w3.org/TR/server-timing/ */
export type Metrics = (request: IncomingMessage, response: ServerResponse, status: number) => string[];

/**
 * Adds metrics to the Server-Timing header of each response of this process. Next has no hook for every response; Node's channel announces each
 * request before the app sees it: https://nodejs.org/api/diagnostics_channel.html#event-httpserverrequeststart
 */
export function sendServerTiming(...parts: Metrics[]): void {
  if (!isFirstCall("server-timing")) return;
  subscribe("http.server.request.start", (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    // What the response is, and its trace, are known when its headers are written.
    const { writeHead } = response;
    response.writeHead = ((...args: Parameters<typeof writeHead>) => {
      response.writeHead = writeHead;
      const metrics = parts.flatMap((part) => part(request, response, args[0]));
      if (metrics.length > 0) response.appendHeader("Server-Timing", metrics);
      return response.writeHead(...args);
    }) as typeof writeHead;
  });
}
