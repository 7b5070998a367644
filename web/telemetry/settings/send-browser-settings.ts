import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { requestIdIn } from "../errors/request-id.js";
import { isFirstCall } from "../once.js";
import { serverTiming } from "./browser-settings.js";
import type { Settings } from "./settings.js";

/**
 * Takes the settings and sends the browser's part with each document of this process. Next has no hook for every response: middleware would
 * be a file of the app, `headers` are fixed at build. Node's channel announces each request before the app sees it:
 * https://nodejs.org/api/diagnostics_channel.html#event-httpserverrequeststart
 */
export function sendBrowserSettings(settings: Settings): void {
  if (!isFirstCall("browser-settings")) return;
  subscribe("http.server.request.start", (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const send = () => {
      const value = serverTiming(settings, requestIdIn(request.headers));
      if (value) response.appendHeader("Server-Timing", value);
    };
    if (request.headers.accept?.includes("text/html")) send();
    // A service worker that fetches a page accepts anything.
    else beforeHeaders(response, () => String(response.getHeader("content-type")).startsWith("text/html") && send());
  });
}

/** Calls `act` when the response's headers are set, before they are sent. */
function beforeHeaders(response: ServerResponse, act: () => void): void {
  const { writeHead } = response;
  response.writeHead = ((...args: Parameters<typeof writeHead>) => {
    response.writeHead = writeHead;
    act();
    return response.writeHead(...args);
  }) as typeof writeHead;
}
