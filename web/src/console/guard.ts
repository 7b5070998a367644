import { notFound } from "next/navigation";
import { settings } from "../settings";

/**
 * Ends the request with 404 if CONSOLE=off, because a page that throws on demand does not belong in production. Each page,
 * action and route calls it first: Next skips a layout for a request that already has it, so a check there would be skipped too.
 */
export function requireConsole(): void {
  if (!settings().console) notFound();
}
