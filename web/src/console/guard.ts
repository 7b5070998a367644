import { notFound } from "next/navigation";
import { settings } from "../telemetry/settings/settings";

/**
 * Ends the request with 404 where CONSOLE=off: in production nobody needs a page that throws on demand. Called first by each
 * page, action and route: a layout that called it for all would be skipped when a request says that it has the layout already.
 */
export function requireConsole(): void {
  if (!settings().console) notFound();
}
