import { notFound } from "next/navigation";
import { settings } from "../telemetry/settings";

/** Ends the request with 404 where CONSOLE=off: in production nobody needs a page that throws on demand. */
export function requireConsole(): void {
  if (!settings().console) notFound();
}
