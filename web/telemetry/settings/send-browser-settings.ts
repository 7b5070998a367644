import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { requestIdIn } from "../errors/request-id.js";
import { isFirstCall } from "../once.js";
import { serverTiming } from "./browser-settings.js";
import type { Settings } from "./settings.js";

/**
 * Sends the browser's part of the settings with each document of this process. Next has no hook for every response; Node's channel announces each
 * request before the app sees it: https://nodejs.org/api/diagnostics_channel.html#event-httpserverrequeststart
 */
export function sendBrowserSettings(settings: Settings): void {
  if (!isFirstCall("browser-settings")) return;
  subscribe("http.server.request.start", (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const value = serverTiming(settings, requestIdIn(request.headers));
    if (!value) return;
    if (request.headers.accept?.includes("text/html")) return response.appendHeader("Server-Timing", value);
    // A service worker that fetches a page accepts anything: the response's headers say what it is.
    const { writeHead } = response;
    response.writeHead = ((...args: Parameters<typeof writeHead>) => {
      response.writeHead = writeHead;
      if (String(response.getHeader("content-type")).startsWith("text/html"))
        response.appendHeader("Server-Timing", value);
      return response.writeHead(...args);
    }) as typeof writeHead;
  });
}
