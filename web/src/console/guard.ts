import { notFound } from "next/navigation";
import { connection } from "next/server";
import { settings } from "../settings";

/**
 * Waits for a request, because Next would run the caller in its build. Ends it as not found if CONSOLE=off: a page that throws on demand does not
 * belong in production. Each page, action and route calls it first: Next skips a layout, and a check there, for a request that already has it.
 */
export async function requireConsole(): Promise<void> {
  await connection();
  if (!settings().console) notFound();
}
