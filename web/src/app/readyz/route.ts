import { isStopping } from "@culvert/nextjs/health";

export const dynamic = "force-dynamic";

/**
 * Responds with 200 while this process should get requests, and with 503 once it was told to stop. The ingest does not matter:
 * pages are served even if events cannot be sent.
 */
export function GET() {
  const [status, word] = isStopping() ? [503, "stopping"] : [200, "ready"];
  return new Response(`${word}\n`, { status, headers: { "Cache-Control": "no-store", "Content-Type": "text/plain" } });
}
