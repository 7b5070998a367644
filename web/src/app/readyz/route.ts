import { isStopping } from "../../telemetry/send/shutdown";

export const dynamic = "force-dynamic";

/**
 * Answers 200 while this process should get requests, and 503 once it was told to stop. The ingest has no say: pages are served
 * whether or not reports arrive.
 */
export function GET() {
  const [status, word] = isStopping() ? [503, "stopping"] : [200, "ready"];
  return new Response(`${word}\n`, { status, headers: { "Cache-Control": "no-store", "Content-Type": "text/plain" } });
}
