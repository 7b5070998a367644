import { isStopping } from "@culvert/nextjs/health";
import { connection } from "next/server";

/**
 * Responds with 200 while this process should get requests, and with 503 once it was told to stop. The ingest does not matter:
 * pages are served even if events cannot be sent.
 */
export async function GET() {
  await connection();
  const [status, word] = isStopping() ? [503, "stopping"] : [200, "ready"];
  return new Response(`${word}\n`, { status, headers: { "Cache-Control": "no-store", "Content-Type": "text/plain" } });
}
