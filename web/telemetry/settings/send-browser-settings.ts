import { requestIdIn } from "../errors/request-id.js";
import type { Metrics } from "../serve/server-timing.js";
import { serverTiming } from "./browser-settings.js";
import type { Settings } from "./settings.js";

/** Takes the settings; returns the metrics by which each document carries the browser's part of them. */
export function settingsMetrics(settings: Settings): Metrics {
  return ({ headers }, response) => {
    // A service worker that fetches a page accepts anything: the response's headers say what it is.
    const isPage = [headers.accept, response.getHeader("content-type")].some((type) => `${type}`.includes("text/html"));
    const metric = isPage && serverTiming(settings, requestIdIn(headers));
    return metric ? [metric] : [];
  };
}
