import { notFound } from "next/navigation";
import { connection } from "next/server";
import { settings } from "../settings";

/**
 * Waits for a request, because Next would run the caller when it builds, with the build's settings. Ends the request as not found if CONSOLE=off: a
 * page that throws on demand does not belong in production. Each page, action and route calls it first: Next skips a layout for a request that
 * already has it, so a check there would be skipped too.
 */
export async function requireConsole(): Promise<void> {
  await connection();
  if (!settings().console) notFound();
}
